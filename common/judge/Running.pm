# SPDX-License-Identifier: MIT
# Running.pm - builds an answer and the judge's program for its exercise, and runs them: each answer in a folder of its own, which is gone
# afterwards, and in a process of its own (judge.c and runner.c say how).
package Running;
use strict;
use warnings;
use Cwd 'getcwd';
use POSIX ();
use Exporter 'import';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use File::Spec;
use Sandbox;
our @EXPORT = qw(read_text write_text typed_path run_command fresh_folder build run_apart run_judge);

sub read_text {
    open my $file, '<', $_[0] or return undef;
    local $/;
    return scalar <$file>;
}

# A path as it was typed in the folder `from' (undef: here), seen from the root, or whole if it leads elsewhere.
sub typed_path {
    my ($typed, $from) = @_;
    my $whole = File::Spec->rel2abs($typed, $from // '.');
    my $path = File::Spec->abs2rel($whole);
    return $path =~ /^\.\./ ? $whole : $path;
}

# Leaves a file alone that says so already: make then need not build anew.
sub write_text {
    my ($path, $text) = @_;
    my $old = read_text($path);
    return if defined $old && $old eq $text;
    make_path(dirname($path));
    open my $file, '>', $path or die "cannot write $path: $!\n";
    print $file $text;
    close $file or die "cannot write $path: $!\n";
}

# ---- folders ----

# A folder that nobody else uses; it is removed when the object goes, and when the program is interrupted.
my ($number, %folders) = (0);
my %seen; # folder => another one, which goes with it: what a compiler sees (below)

sub fresh_folder {
    my ($tag) = @_;
    my $path = "build/exercises/$tag." . join '.', $$, ++$number;
    make_path($path);
    $folders{$path} = $$;
    return bless { path => $path }, __PACKAGE__;
}

sub remove_folder {
    my ($path) = @_;
    return if ($folders{$path} // 0) != $$; # not ours, but of who has forked us
    delete $folders{$path};
    remove_tree($path, glob "build/obj/*/$path");
}

sub DESTROY { local ($@, $?, $!); remove_folder($_[0]{path}); delete $seen{ $_[0]{path} } }
END { local $?; remove_folder($_) for keys %folders }
for my $signal (qw(HUP INT TERM)) {
    $SIG{$signal} = sub { exit 130 } if !defined $SIG{$signal} || $SIG{$signal} eq 'DEFAULT';
}

# ---- commands ----

# Runs a command of ours, such as make; returns its status, 'signal N' if it was killed, stdout and stderr, of each at most the first MB.
sub run_command {
    my ($settings, @command) = @_;
    my @files = map { open my $file, '+>', undef or die "cannot write a temporary file: $!\n"; $file } 0, 1; # without a name, so gone when closed
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        @ENV{ keys %$settings } = values %$settings;
        $SIG{$_} = 'DEFAULT' for qw(HUP INT TERM);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>&', $files[0] or POSIX::_exit(127);
        open STDERR, '>&', $files[1] or POSIX::_exit(127);
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $status = $?;
    local $/ = \1048576; # the first error is what counts, and a compiler may have told millions
    return ($status & 127 ? 'signal ' . ($status & 127) : $status >> 8, map { seek $_, 0, 0; scalar(<$_>) // '' } @files);
}

our $watched = 0;    # whether answers are so compiled that a run can be played (watch.pl)
our $compiling = 60; # seconds, of each process of a compiler: so long, 8 GB of memory and 512 MB of disk

# Compiles `text', which is shown as the file `shown', in a folder, and the judge's description. Returns the program that runs the answer,
# or undef and the errors. The answer's object is `build/obj/$backend/$program.o' then, if it compiles.
sub build {
    my ($backend, $exercise, $folder, $text, $shown, $variant) = @_; # raced or counted, for plain C; addresses: and this second program, for kernels
    my $answer = "$folder->{path}/" . ($backend eq 'cuda' ? 'cuda' : $exercise->{on_cpu} ? $variant // 'answer' : 'answer');
    my $suffix = $exercise->{on_cpu} ? 'c' : 'cu';
    my $seen = $shown =~ m{^/} ? $shown : "../../$shown"; # from the folder where make compiles
    $seen =~ s{([\\"])}{\\$1}g; $seen =~ s{[\x00-\x1F]}{?}g; # a string of C
    write_text("$answer.$suffix", qq(#line 1 "$seen"\n$text));
    print STDERR "(The judge is being built, which is done once and takes some seconds.)\n" if !-f "build/obj/$backend/common/judge/runner.o";
    my $flags = ($ENV{MAKEFLAGS} // '') =~ s/(^| )-(?:-jobserver\S+|j\d*)//gr; # the caller's variables, but a make of its own, with all cores
    my $cores = `nproc 2> /dev/null` =~ /(\d+)/ ? $1 : 1;
    my @apart = apart($backend, $exercise, $folder->{path}, "$answer.$suffix");
    write_text("$folder->{path}/apart", join(' ', 'exec', map { quoted($_) } @apart) . ' "$@"' . "\n");
    my ($status, undef, $errors) = run_command({ MAKEFLAGS => $flags, MAKELEVEL => 1, LC_ALL => 'C' }, limited(), 'make', '-s', "-j$cores", '-C', 'common/judge', 'QUIET=1', "BACKEND=$backend", 'DEBUG=',
        "JUDGE=$exercise->{judge}", "ANSWER=$answer", $watched ? 'WATCHED=yes' : (), $exercise->{on_cpu} ? 'ON_CPU=' . ($variant // 'yes') : defined $variant ? 'ADDRESSES=yes' : ());
    return $status eq 0 ? $answer : (undef, $errors);
}

sub quoted { return "'" . $_[0] =~ s/'/'\\''/gr . "'" }

# The limits of all that reads an answer, and no cache, which lies where it may not write: a command that sets them, and goes on as the one behind it.
sub limited { return (qw(sh -c), "for limit in '-t $compiling' '-v 8388608' '-f 1048576'; do ulimit \$limit 2> /dev/null; done; CCACHE_DISABLE=1 exec \"\$@\"", 'sh') }

# The sandbox in which an answer is compiled and linked; nothing where there is none. It holds the headers that an answer may include, the simulator, the
# runner's object and this answer.
sub apart {
    my ($backend, $exercise, $folder, $source) = @_;
    return () if sandbox_missing();
    my @objects = map { "build/obj/$backend/$_" } $folder, 'common/judge/judge_baseline.o', "$exercise->{judge}.runner.o";
    make_path($objects[0], 'build/exercises');
    my @headers = grep { !m{/judge/} } glob('common/*/*.h common/*/*.cuh [0-9][0-9]_*/*.h [0-9][0-9]_*/*.cuh [0-9][0-9]_*/kernels/*.h [0-9][0-9]_*/kernels/*.cuh'
        . " [0-9][0-9]_*/operation/*.h $exercise->{chapter}/exercises/*.h $exercise->{chapter}/exercises/*.cuh");
    my @engine = $backend eq 'sim' ? ('cusim/compile', 'cusim/include', map { "build/obj/sim/common/judge/$_" } qw(engine.o headers headers.0.gch headers.1.gch)) : ();
    return compiler_sandbox(seen($folder, @headers, 'common/judge/threads.h', 'cusim/counts.h'), [@engine, @objects[1, 2], $source, "$folder/apart"], [$objects[0], $folder],
        grep { defined } @ENV{qw(CXX CC NVCC)});
}

# A folder with these files, as links, in place of the repository's: to show one folder takes bubblewrap a hundredth of the time of so many files. It
# goes with `folder', and lies elsewhere, where no compiler can write.
sub seen {
    my ($folder, @files) = @_;
    return $seen{$folder}{path} if $seen{$folder};
    $seen{$folder} = fresh_folder('seen');
    for my $file (@files) {
        my $to = "$seen{$folder}{path}/$file";
        make_path(dirname($to));
        !-l $file && link($file, $to) or copy($file, $to) or die "cannot write $to: $!\n";
    }
    return $seen{$folder}{path};
}

# Runs a compiler of ours on an answer as `build' does.
sub run_apart {
    my ($source, @command) = @_;
    return run_command({ LC_ALL => 'C' }, limited(), qw(sh -c), 'cd common/judge && exec sh "$@"', 'sh', '../../' . dirname($source) . '/apart', @command);
}

# ---- the judge's program ----

our ($megabytes, $seconds) = (4096, 30); # of an answer's process

# Text of an answer, without what a terminal would obey.
sub plain { return $_[0] =~ tr/\t\n -~\x80-\xff/?/cr }

# The last of what an answer has printed: it may be megabytes, or one endless line.
sub last_printed {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/ = \4096; # bytes at a time
    my ($rest, @lines) = ('');
    while (defined(my $part = <$file>)) {
        push @lines, split /\n/, $rest . $part, -1;
        $rest = substr pop @lines, 0, 4096;
        splice @lines, 0, -10;
    }
    return plain(join '', map { "$_\n" } @lines, $rest eq '' ? () : $rest);
}

# The end of what it said on stderr.
sub last_said {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    seek $file, -65536, 2 if -s $path > 65536;
    local $/;
    return plain(scalar(<$file>) // '');
}

# Where the judge's own program is, that of one exercise.
sub judge_program { return "build/exercises/judges/" . $_[0]{judge} =~ s{/exercises/judges/}{.}r }

# A text in which paths begin at the root, as a reader types them, and not where make compiles or where the answer ran.
sub from_root { return $_[0] =~ s{(?<![\w./])(?:\./)?(?:common/judge/(?:\.\./)+)?(?=\w)}{}gr }

# Has the judge of an exercise run an answer's program: `compare', `count', 16, 100 and so on. Returns
#   right     whether all was right; the verdict is the judge's alone
#   said      the judge's lines, as judge.c explains them
#   ended     where the answer's process did not end as it should: 'late', 'signal N' or its status
#   printed, complained   the end of what the answer wrote to stdout and stderr, to be shown and nothing else
sub run_judge {
    my ($exercise, $program, $settings, @what) = @_;
    my ($folder, $gpu) = (dirname($program), $program =~ m{/cuda$});
    my $judge = judge_program($exercise);
    my $sanitized = -f "$program.c" && $program !~ m{/counted$}; # the sanitizers reserve terabytes, and use few of them
    my $most = "hard_rss_limit_mb=$megabytes";
    my @start = $gpu ? split(' ', $ENV{RUN} // '') : (); # (common/build/config.mk)
    my @call = (@start, $judge, @what, "folder=$folder", 'seed=' . ($exercise->{seed} // 1), "seconds=$seconds", $gpu || $sanitized ? () : "memory=$megabytes", '--');
    my @command = sandboxed(getcwd() . "/$program", $gpu, $gpu ? sub { (run_command({}, @start, $judge, 'probe', "folder=$folder", '--', @_))[0] eq 0 } : undef);
    # strict: what the simulator has only a remark for is a mistake in an exercise
    my ($status, $said, $errors) = run_command({ CUSIM_CHECKS => 'strict', ASAN_OPTIONS => "detect_leaks=0:$most", TSAN_OPTIONS => "halt_on_error=1:$most", %$settings }, @call, @command);
    die "the judge cannot run: $errors\n" if $status eq 2 || $status eq 127;
    my ($ended) = $said =~ /^\@ended (?:status )?(.+)$/m;
    return {
        right => $status eq 0, said => from_root($said), ended => $status =~ /signal/ ? $status : $ended,
        printed => last_printed("$folder/out"), complained => from_root(last_said("$folder/err")),
    };
}

1;
