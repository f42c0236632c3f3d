# SPDX-License-Identifier: MIT
# Every command that `make help', README.md and docs/use.md show is run at a small size, in a copy of the tree, or the table says why it is not.
# A command that the table does not know fails, and so does a line of the table that no text shows any more.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# ---- what is shown: command => where ----

my %shown;
sub shows { my ($where, $command) = @_; $shown{$command} //= $where }

# A line as `make help' has it: commands, what they are for, and in that what else they take: `make bench ... (QUICK=1: ...)' is make bench QUICK=1.
sub shows_line {
    my ($where, $line) = @_;
    my $in_chapter = $line =~ s/^In a chapter's folder: // ? 'in a chapter: ' : '';
    my $command = 'make';
    my $value = qr/[A-Z_]+=(?:"[^"]*"|[^\s,;:)]*)/;
    while ($line =~ /(?:(?:^|  |[,;:] |\()(make(?: [a-z][\w.-]*)?)((?: $value)*)|\b($value))/g) { # not: which does make check find
        my ($named, $given, $alone) = ($1, $2, $3);
        $command = $named if defined $named;
        shows($where, $in_chapter . $command . (defined $alone ? " $alone" : $given));
    }
}

$ENV{BACKEND} = backend();
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
# (a line that is indented goes on with the one above it)
shows_line('make help', $_) for split /\n/, (run_program(qw(make --no-print-directory help)))[1] =~ s/\n +/ /gr;
for my $page ('README.md', 'docs/use.md') {
    my $text = read_file($page);
    while ($text =~ s/^```(\w*)\n(.*?)^```\n//ms) {
        my ($language, @lines) = ($1, split /\n/, $2);
        if ($language =~ /^(?:sh|bash)$/) {
            shows($page, s/\s+#.*//r) for grep { /^[^#]/ } @lines;
        } elsif ($language eq 'text') {
            shows_line($page, $_) for grep { /^make/ } @lines;
        }
    }
    shows($page, $1) while $text =~ /`(make(?: [^`]+)?)`/g;
}

# ---- what is done about it ----

# Three chapters stand for all where a command does the same for each; other commands want the whole tree. Both are copies: what is written there is lost.
my ($whole, $short, $sim) = (copy_of_tree('whole'), copy_of_tree('short'), backend() eq 'sim');
system("rm -rf $short/0[4-9]_* $short/[1-9]*") == 0 or die 'rm';
my ($there, $make) = (scratch('installed'), (grep { -x } map { "$_/make" } split /:/, $ENV{PATH})[0]);

# Of each command: what is run, in which tree, and what it says, if it says something. It ends with status 0.
sub whole { return [$whole, @_] }
sub short { return [$short, @_] }
# It needs something that is not here, says so in a sentence, and ends with an error.
sub refused { return [$whole, "! $_[0]", qr/^\Q$_[0]\E needs \S/m] }
sub wants { my ($tool, $entry) = @_; return (system("command -v $tool > /dev/null") == 0 ? $entry : "$tool is not here") }

write_npy("$whole/$_.npy", '(8,)', 1 .. 8) for qw(dy x1 c1 x2 c2);
mkdir $_ for scratch('stub'), "$whole/handed_in", map { "$whole/handed_in/$_" } qw(ada ben);
system("cp $whole/01_reference/exercises/solutions/rules.c $whole/handed_in/$_") == 0 or die 'cp' for qw(ada ben);
write_file(scratch('stub/make'), "#!/bin/sh\necho \"\$@\" >> '$there.made'\n");
chmod 0755, scratch('stub/make');
my $times = 'PATH=' . scratch('stub') . ":\$PATH $make times"; # builds all from nothing, and runs the tests: here with a make that does nothing

# In this order: some need what those before them leave.
my @table = (
    ['make', whole('make', qr/^backend: sim/)],
    ['make -j1', short('make -j1', qr/^backend: sim/)],
    ['make help', whole('make help', qr/^make run /m)],
    ['make -C 03_tile', short('make -C 03_tile')],
    ['make run', short('make run', qr/^Next: read 01_reference/m)],
    ['in a chapter: make', short('cd 03_tile && make')],
    [['in a chapter: make run', 'make -C 03_tile run'], short('cd 03_tile && make run', qr/^all \d+ checks passed$/m)],
    ['make check', short("make check CHECKS='--num-seqs 1 --seq-len 5'", qr/^03_tile on .*^all \d+ checks passed$/ms)],
    ['in a chapter: make check', short('cd 03_tile && make check', qr/^all \d+ checks passed$/m)],
    [['make plot', 'in a chapter: make plot'], short('make plot && cd 03_tile && make plot', qr{^drew results/02_cuda_ref.*^drew results/03_tile}ms)],
    ['make plot TERM=dumb', short('make plot TERM=dumb', qr/sequence length/)],
    ['make trace', short('make trace', qr/^==== 03_tile ====.*^shared /ms)],
    ['in a chapter: make trace', short('cd 03_tile && make trace', qr/^shared /m)],
    ['make trace LINES=VARIANT', short('cd 03_tile && make trace LINES=shared', qr{03_tile/shared\.cu:\d+: }m)],
    [['make estimate', map { "make estimate $_" } qw(CHIP=h200 NUM_SEQS= SEQ_LEN= CSV=FILE)], short('make estimate CHIP=h200 NUM_SEQS=4 SEQ_LEN=64 CSV=table.csv && grep shared table.csv', qr/^03_tile shared /m)],
    [['make estimate VARIANT=', 'in a chapter: make estimate'], short('cd 03_tile && make estimate VARIANT=shared NUM_SEQS=4 SEQ_LEN=64', qr/^03_tile shared /m)],
    ['make record', short('make record', qr/^nothing to record: no table in results\/ comes from a GPU/m)],
    [['make watch', map { "make watch VARIANT=$_" } qw(CHAPTER/NAME 03_tile/shared)], whole('make watch VARIANT=03_tile/shared', qr{^results/watch/03_tile_shared\.html$}m)],

    ['make exercises', whole('make exercises', qr/^0 of \d+ solved/m)],
    ['make exercise EX=01.1', whole('! make exercise EX=01.1', qr/says only that 01\.1 is not solved yet/)],
    ['make exercise EX=02.1', whole('! make exercise EX=02.1', qr/says only that 02\.1 is not solved yet/)],
    [[map { "make hint EX=$_" } '01.1', '02.1'], whole('make hint EX=01.1 && make hint EX=02.1', qr/^Hint 1 of .*^Hint 1 of /ms)],
    ['make solution EX=02.1', whole('! make solution EX=02.1', qr/^02\.1 is not solved yet/m)],
    ['make watch EX=NN.N', whole('make watch EX=02.1', qr{^results/watch/02\.1\.html$}m)],
    ['make class IN=handed_in OUT=class.csv', whole('make class IN=handed_in OUT=class.csv ONLY=01.1', qr/^class\.csv: 2 students, 1 exercise: 2 solved/m)],
    ['make similar IN=handed_in', wants('sim_c', whole('make similar IN=handed_in', qr/^\d+ pairs? of answers/m))],
    ['make classroom OUT=FOLDER', 'it writes what git tracks, and a copy has no git: common/judge/tests/long/classroom.t'],

    (map { [$_, whole($_)] } 'build/sim/02_cuda_ref --fill ramp --seq-len 8 --inputs x.npy', 'build/sim/02_cuda_ref --fill 0,1,0.5 --seq-len 8 --coeffs c.npy',
        'build/sim/02_cuda_ref --inputs x.npy --coeffs c.npy --outputs y.npy',
        'build/sim/02_cuda_ref --d-outputs dy.npy --coeffs c.npy --outputs y.npy --d-inputs dx.npy --d-coeffs dc.npy'),
    ['build/sim/02_cuda_ref --print y.npy', whole('build/sim/02_cuda_ref --print y.npy', qr/^0 1 2\.5 /m)],
    (map { [$_, whole($_)] } map { "build/sim/06_backward --inputs x$_->[0].npy --coeffs c$_->[0].npy --outputs y$_->[0].npy --$_->[1]-state f.npy" } [1, 'final'], [2, 'initial']),

    ['make lib', whole('make lib')],
    [['make install', 'make install PREFIX=/usr/local', 'make install DESTDIR=FOLDER'],
        whole("make install PREFIX=/usr/local DESTDIR=$there && ls $there/usr/local/lib", qr/^liblinrec\.a$/m)],
    ['make install-cusim', whole("make install-cusim PREFIX=$there && $there/bin/cusim --help", qr/cusim/)],
    [['make fuzz', map { "make fuzz $_" } qw(SECONDS=60 SEED=N ONLY=NAME)], short('make fuzz SECONDS=1 SEED=1 ONLY=02_cuda_ref', qr/^all +\d+ cases, none wrong/m)],
    [['make report', 'make report TEXTS=FILE'], whole('make report TEXTS=docs/use.md && cmp docs/use.md ' . scratch('use.md'))],
    ['make notebook', short('make notebook && ls -l docs/first_chapters.ipynb')],
    ['make compile_commands.json', whole('make compile_commands.json', qr/^compile_commands\.json: \d{3} sources/m)],
    ['make times', whole("$times && cat $there.made", qr/^\| `make run` \|.*^test$/ms)],
    ['make times WRITE=1', whole("rm $there.made; $times WRITE=1 && ! cmp -s docs/machines.md " . scratch('machines.md'))],
    ['make book', wants('pandoc', wants('chromium', short('make book', qr{^build/book\.pdf: }m)))],
    ['make plays ONLY=CHAPTER', wants('chromium', short('make plays ONLY=02_cuda_ref', qr{^02_cuda_ref/figures/\w+\.svg}m))],
    ['make plays', 'common/pages/tests/long/plays.t draws the pictures of all chapters'],
    [['make site', 'make site TEACHER=1'], 'common/pages/tests/long/site.t makes it, which takes a while'],
    ['make slides', 'common/pages/tests/long/slides.t makes them'],
    [['make format', 'make format CHECK=1'], 'it asks git for the sources, and a copy has no git: common/tests/tools.t'],
    [['make mutants', 'make mutants ONLY=NAME'], 'it takes hours; common/tests/long/mutants.t makes a few'],

    (map { [$_, refused($_)] } map { "make $_" } qw(bench tune attrs profile recordings sanitize)),
    ['make bench QUICK=1', 'it needs a GPU'],
    ['make recordings ONLY="05 06"', 'it needs a GPU; common/tests/long/new_chapter.t records a program that pretends to run on one'],
    ['make peers', 'it needs a GPU and Python with torch'],
    ['make TUNED=FILE', '07_bench/tests/tuned.t builds with such a file'],
    ['make BACKEND=cuda', 'it needs nvcc; .ci/cuda compiles all kernels with it'],
    ['make BACKEND=cuda|sim', whole('make backend BACKEND=sim', qr/^backend: sim \(as asked for\)$/m)],
    [['make ARCH=sm_90', 'make ARCH="sm_80 sm_90"'], 'they need nvcc; .ci/cuda compiles for several chips, and library/tests/flags.t says with which options'],
    ['make RUN="srun --gres=gpu:1"', 'it needs a GPU; common/tests/run_prefix.t has a command that stands for srun'],
    ['make DEBUG=1', 'make test builds so what the texts show in a debugger'],

    ['$(command -v sudo) apt-get update && $(command -v sudo) apt-get install -y make && make setup run', 'it installs packages; make run is above'],
    [['make setup', 'make setup SITE=1'], 'it installs packages; .ci/run begins with it, and common/tests/container.t asks what it would install'],
    [['make test', 'make test-all'], 'they run the tests, and this one'],
    ['make clean', short('make clean && test ! -e build -a ! -e results')],
);

my %known;
for my $entry (@table) {
    $known{$_}++ for ref $entry->[0] ? @{ $entry->[0] } : $entry->[0];
}
is(join("\n", map { "$shown{$_} shows: $_" } grep { !$known{$_} } sort keys %shown), '', 'every command that is shown is in the table');
is(join("\n", grep { !$shown{$_} } sort keys %known), '', 'every command in the table is shown');
is(join("\n", grep { $known{$_} > 1 } sort keys %known), '', 'and none twice');
my @named = map { ref $_->[1] ? () : $_->[1] =~ m{(\S+/\S+?)[:;,]?(?: |$)}g } @table;
is(join(' ', grep { !-e } @named), '', 'the tests that the table names are there');

# what is not run is there at least
my %rule = map { /#  (?:recipe|commands) to execute/ && /^([a-z][\w.-]*):/m ? ($1 => 1) : () } split /\n\n/, (run_program(qw(make --no-print-directory -pq help)))[1];
for my $command (map { ref $_->[1] ? () : ref $_->[0] ? @{ $_->[0] } : $_->[0] } @table) {
    my ($target) = $command =~ /^make ([a-z][\w-]*)/ or next;
    ok($rule{$target}, "$command: there is a rule for it");
}

# ---- run ----

SKIP: {
    skip 'the programs were built for a GPU: the commands are run on the simulator', 1 if !$sim;
    system('cp', "docs/$_", scratch($_)) == 0 or die 'cp' for qw(use.md machines.md);
    for my $entry (@table) {
        my ($shown, $how) = @$entry;
        $shown = join ', ', @$shown if ref $shown;
        if (!ref $how) {
            note("not run: $shown: $how");
            next;
        }
        my ($tree, $command, $says) = @$how;
        my ($status, $out, $err) = run_program('sh', '-c', "cd $tree && { $command; }");
        ok($status eq 0 && "$out$err" =~ ($says // qr//), "$shown") or diag("$command\nstatus $status\n", ("$out$err" =~ /(.{0,2000})\z/s));
    }
}

done_testing;
