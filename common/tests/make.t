# SPDX-License-Identifier: MIT
# Two makes at once, from clean: neither finds half a file, and neither takes the other's away. And what the environment holds by chance.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use POSIX 'WNOHANG';
use Test::More;
use Time::HiRes 'sleep';

# Whether a file comes, however long that takes here, before a process ends.
sub comes {
    my ($path, $pid) = @_;
    until (-e $path) {
        return -e $path if waitpid $pid, WNOHANG;
        sleep 0.05;
    }
    return 1;
}

my ($root, $at_half, $go) = (scratch('two'), scratch('at_half'), scratch('go'));
mkdir $_ for $root, "$root/common", "$root/common/build", "$root/common/harness", "$root/cusim", "$root/cusim/machine", "$root/01_x";
system('cp', '-a', glob('common/build/*.mk'), "$root/common/build") == 0 or die 'cp';
write_file("$root/01_x/Makefile", "include ../common/build/chapter.mk\n");
system('cp', 'cusim/Makefile', 'cusim/VERSION', "$root/cusim") == 0 or die 'cp';
write_file("$root/01_x/main.c", "int main(void) { return 0; }\n");
write_file("$root/common/harness/baselines_cpu.c", "int device;\n");
write_file("$root/cusim/machine/engine.cpp", "int engine;\n");

# A compiler of which one does only half of its work until the other is through: a plain make compiles and links in between.
my $slow = write_file(scratch('slow.sh'), <<'END');
out=
previous=
for word; do
    [ "$previous" != -o ] || out=$word
    previous=$word
done
case $out in
    *"$HALF"*)
        printf half > "$out"
        : > "$AT_HALF"
        while [ ! -e "$GO" ]; do sleep 0.05; done
        ;;
esac
exec "$@"
END

sub two { # the second one runs while the first one has half of a file; what both said, and whether that file was whole between them
    my ($half, $file, @command) = @_;
    unlink $at_half, $go;
    my $log = scratch('first.log');
    my $first = fork // die "fork: $!";
    if ($first == 0) {
        @ENV{qw(HALF AT_HALF GO)} = ($half, $at_half, $go);
        open STDOUT, '>', $log;
        open STDERR, '>&', \*STDOUT;
        exec @command or exit 127;
    }
    ok(comes($at_half, $first), "one make has half of $half");
    my ($status, $out, $err) = run_program({ HALF => 'nothing' }, @command);
    my $between = read_file($file) // 'none';
    write_file($go, '');
    waitpid $first, 0;
    is("$status $?", '0 0', "$half: both end well") or diag("$out$err" . read_file($log));
    ok($between ne 'half' && length $between > 100 && -s $file, "$half: the other has found it whole");
}

my @make = ('make', '--no-print-directory', 'BACKEND=sim', '-C', "$root/01_x", "CC=sh '$slow' gcc", "CXX=sh '$slow' g++");
for ([ 'main.o', 'build/obj/sim/01_x/main.o' ], ['engine.o', 'cusim/build/machine/engine.o'], ['build/sim/01_x', 'build/sim/01_x']) {
    my ($half, $file) = @$_;
    system('rm', '-rf', "$root/build", "$root/cusim/build");
    two($half, "$root/$file", @make);
}
is_deeply([sort map { s{.*/}{}r } glob "$root/build/obj/sim/*/* $root/cusim/build/*"], [qw(cusim.o flags harness machine main.d main.o)], 'nothing else is left');

# what an object hangs on is known to whoever makes it next, from another folder
my $baselines = 'build/obj/sim/common/harness/baselines_cpu.o';
mkdir "$root/common/two";
write_file("$root/common/two/Makefile", "BACKEND := sim\ninclude ../../common/build/chapter.mk\n");
write_file("$root/common/harness/baselines.h", "extern int device;\n");
write_file("$root/common/harness/baselines_cpu.c", "#include \"baselines.h\"\nint device;\n");
$ENV{HALF} = 'nothing';
is((run_program('make', '-C', "$root/common/two", @make[2, 5, 6], "../../$baselines"))[0], 0, 'an object made in a folder deeper down');
unlike((run_program(@make))[1], qr{\Q$baselines\E}, 'serves a chapter, too');
sleep 0.01;
utime undef, undef, "$root/common/harness/baselines.h";
like((run_program(@make))[1], qr{\Q$baselines\E}, 'is made again from a chapter when its header has changed');

# what a run cannot write is said before anything runs, and what an earlier run has left is not shown; a folder stands in the table's place
system('mkdir', '-p', "$root/results/01_x.txt") == 0 or die 'mkdir';
my ($status, $out, $err) = run_program('make', '--no-print-directory', 'QUIET=1', 'BACKEND=sim', '-C', "$root/01_x", 'run');
ok($status eq 2 && $err =~ m{\Aresults/01_x\.txt cannot be written; remove it, or make it and the folder results/ yours\nmake(?:\[\d+\])?: .*\n\z} && $out !~ /--csv/,
    'a table that cannot be written') or diag("$status\n$out$err");

# a checkout that gets another name: its programs find their lines there
SKIP: {
    skip 'only the simulator finds lines', 1 if backend() ne 'sim';
    require Cwd;
    my ($here, $renamed) = (Cwd::getcwd(), scratch('renamed'));
    my ($chapter) = grep { glob "$_/*.cu" } gpu_chapters();
    mkdir $renamed;
    system('cp', '-a', $chapter, $renamed) == 0 or die 'cp';
    ($status, $out, $err) = run_program({ CUSIM_TRACE => scratch('trace.csv') }, 'sh', '-c', 'cd "$0" && exec "$@"', $renamed, "$here/" . program($chapter),
        '--num-seqs', 1, '--seq-len', 8, '--forward');
    my %files = map { s/:\d+\z//r => 1 } grep { $_ ne '' } map { $_->{line} } @{ read_table(scratch('trace.csv'))->{rows} };
    ok(%files && !grep({ !m{^\Q$chapter\E/\w+\.cu\z} } keys %files), 'its lines are named as seen from there') or diag(join "\n", "$status $err", sort keys %files);
}

# a kernel for the simulator: preprocessed, rewritten, compiled
my $source = write_file(scratch('empty.cu'), "static __global__ void nothing() {}\nvoid launch() { nothing<<<1, 1>>>(); }\n");
mkdir scratch('objects');
$ENV{CXX} = "sh $slow g++";
two('.o', scratch('objects/empty.o'), 'cusim/compile/cusim', '-c', $source, '-o', scratch('objects/empty.o'), '-MMD');
is_deeply([map { s{.*/}{}r } glob scratch('objects/*')], [qw(empty.d empty.o)], 'nothing else is left');

# variables that a reader's shell may have exported for something else
my @names = qw(ROOT DIR PROGRAM ON_CPU NEEDS COMPARES DEMOS RUN_DEMOS SHOWN RUN_OPTIONS CHECKS TRACED_SHAPES WANTS TABLE PLOT LDLIBS CSV LINES TERM COLUMNS);
for my $chapter (chapters()) {
    my @dry = ('make', '--no-print-directory', '-n', 'BACKEND=sim', '-C', $chapter, 'all', 'run', 'check', 'plot', 'trace', 'bench');
    my ($status, $out, $err) = run_program(@dry);
    is($status, 0, "$chapter: make -n") or diag($err);
    is(join('', (run_program({ map { $_ => 'something' } @names }, @dry))[0, 1]), "0$out", "$chapter: the same, whatever the environment holds");
}

# what the simulator cannot be compiled by: clang, also where it calls itself g++, and macOS; but help is there for everybody
delete $ENV{CXX};
mkdir scratch($_) for qw(clang macos);
write_file(scratch('clang/g++'), "#!/bin/sh\necho 'Apple clang version 15.0.0 (clang-1500.3.9.4)'\n");
write_file(scratch('macos/uname'), "#!/bin/sh\necho Darwin\n");
chmod 0755, scratch('clang/g++'), scratch('macos/uname');
sub with { my ($folder, @words) = @_; local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)}; delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)}; return run_program({ PATH => scratch($folder) . ":$ENV{PATH}" }, 'make', '--no-print-directory', @words) }
for (['clang', 'g++ is clang'], ['macos', 'macOS lacks']) {
    my ($folder, $says) = @$_;
    for my $command (['run'], ['exercise', 'EX=01.1'], ['-C', (gpu_chapters())[0]]) {
        my ($status, $out, $err) = with($folder, @$command);
        ok($status eq 2 && $err =~ /\A\S+config\.mk:\d+: \*\*\* \Q$says\E[^\n]*\.  Stop\.\n\z/, "$folder: make @$command is refused with one sentence") or diag("$status $out$err");
    }
    is((with($folder, 'help'))[0], 0, "$folder: make help");
}
($status, $out, $err) = with('.', 'backend', 'CC=' . scratch('clang/g++'));
ok($status eq 2 && $err =~ m{/clang/g\+\+ is clang}, 'a C compiler that is clang') or diag("$status $out$err");
done_testing;
