# SPDX-License-Identifier: MIT
# The second wall of the judge: an answer's process cannot reach its verdict, reads nothing that it should not, and leaves nothing behind.
# The first wall, what may be in a hand-in, is taken away here. The cheats are in processes.txt; long/process.t tries those that are not
# tried here.
use strict;
use warnings;
use lib 'common/tests', 'common/judge', 'common/judge/tests';
use Battery;
use Cwd 'getcwd';
use Exercises;
use HandIn;
use Linrec;
use Running;
use File::Path 'make_path';
use POSIX ();
use Sandbox;
use Test::More;

my $quick = 6; # of all
my @cheats = battery('processes');
my %cheats = map { $_->{name} => $_ } @cheats;
@cheats = $main::rest ? @cheats[$quick .. $#cheats] : @cheats[0 .. $quick - 1];

{
    no warnings 'redefine';
    *HandIn::refused_text = *HandIn::refused_object = sub { return undef };
}
$ENV{SECRET} = 'of whoever judges';
my %exercises = map { $_->{id} => $_ } all_exercises();
my $root = getcwd();

# What an answer may leave: files, its folder, processes.
my $name = "linrec_left_behind.$$"; # another checkout may be tested at the same time

sub left {
    my @files = map { "$_/$name" } '.', '/tmp', '/var/tmp', '/dev/shm';
    @files = sandbox_missing() ? () : grep { -e } @files; # without bubblewrap an answer may write, while it runs
    my @folders = grep { -d } glob "build/exercises/cheat.$$.* build/obj/sim/build/exercises/cheat.$$.*";
    my @processes = grep { (readlink("$_/fd/1") // '') =~ m{/cheat\.$$\.} } glob '/proc/[0-9]*'; # which print into our folder
    return join ' ', @files, @folders, @processes;
}

sub judged {
    my ($cheat) = @_;
    local $Running::seconds = $cheat->{name} eq 'endless' ? 3 : 30;
    my $text = $cheat->{text} =~ s{/the/course}{$root}gr =~ s{linrec_left_behind}{$name}gr;
    return judge_answer($cheat->{exercise}, $text, "$cheat->{name}.cu", 'cheat');
}

unlink map { "$_/$name" } '.', '/tmp', '/var/tmp', '/dev/shm';
for (@cheats) {
    my ($cheat, $says) = @$_{qw(name says)};
    SKIP: {
        skip sandbox_missing(), 2 if $_->{needs} && sandbox_missing();
        my ($state, $report) = judged($_);
        ok($state ne 'solved' && index($report =~ s/\s+/ /gr, $says) >= 0, "$cheat is not solved, and is told why") or diag("$state: $report");
        is(left(), '', "... and leaves nothing behind");
    }
}

# that a cheat is one: without bubblewrap it works
SKIP: {
    skip sandbox_missing(), 1 if $main::rest || sandbox_missing();
    local $Sandbox::off = 'taken away';
    my ($state, $report) = judged($cheats{reads});
    is($state, 'solved', 'without bubblewrap an answer can read our solution') or diag($report);
}


# a compiler sees links to the repository's files, into which it could write but for bubblewrap
SKIP: {
    skip sandbox_missing(), 3 if $main::rest || sandbox_missing();
    my ($place, $folder) = map { fresh_folder('cheat') } 1, 2;
    write_file("$place->{path}/header.h", "as it was\n");
    my @apart = Sandbox::compiler_sandbox(Running::seen($folder->{path}, "$place->{path}/header.h", 'common/judge/threads.h'), [], [$folder->{path}]);
    my @spoil = ('sh', '-c', "find ../.. -type f; echo spoilt >> ../../$place->{path}/header.h");
    my (undef, $sees) = run_program(@apart, @spoil);
    is(join(' ', sort split /\n/, $sees), "../../$place->{path}/header.h ../../common/judge/threads.h", 'a compiler sees what it is shown, and nothing else');
    is(read_file("$place->{path}/header.h"), "as it was\n", '... and cannot write into it');
    my $open = join("\0", @apart) =~ s/--remount-ro\0\Q$root\E\0//r;
    run_program(split(/\0/, $open), @spoil);
    is(read_file("$place->{path}/header.h"), "as it was\nspoilt\n", 'without that it could');
}

# where it is there but refused (as in some containers), answers are judged without it; that is a sentence of one who asks, and nothing else
if (!$main::rest) {
    my $folder = fresh_folder('cheat');
    write_file("$folder->{path}/bwrap", "#!/bin/sh\necho no >&2\nexit 1\n");
    chmod 0755, "$folder->{path}/bwrap";
    local $ENV{PATH} = "$root/$folder->{path}:$ENV{PATH}";
    my ($status, $out, $err) = run_program('perl', '-Icommon/judge', '-MSandbox', '-e', 'print sandbox_missing()');
    like("$out$err", qr/\Abubblewrap is installed but not allowed to run here, so .*judges it\.\z/, 'where bubblewrap is refused, one sentence says so');
    ($status, $out, $err) = run_program('make', '-s', 'BACKEND=sim', 'exercise', 'EX=02.1', "FILE=$exercises{'02.1'}{solution}");
    ok($status eq 0 && $err eq '' && "$out$err" !~ /bubblewrap/, '... and judging goes on without a word') or diag("$out$err");
    my $in = scratch('handed_in');
    make_path("$in/anna");
    write_file("$in/anna/add.cu", read_text($exercises{'02.1'}{solution}));
    my @class = ('make', '-s', 'class', "IN=$in", 'OUT=' . scratch('class.csv'), 'ONLY=02.1');
    ($status, $out, $err) = run_program(@class);
    ok($status ne 0 && $err =~ /A class is not judged so; UNSAFE=1 does it all the same\.$/m, '... but not of a class') or diag("$status $out$err");
    ($status, $out, $err) = run_program(@class, 'UNSAFE=1');
    ok($status eq 0 && $out =~ /: 1 solved/, '... unless somebody asks for that') or diag("$status $out$err");
}

# ---- at the same time, and interrupted ----

if ($main::rest) {
    # two answers to the same exercise, one right and one that prints without end
    my ($right, $other) = (read_text($exercises{'02.1'}{solution}), $cheats{prints}{text});
    my @children = map { my $text = $_; my $pid = fork; POSIX::_exit((judge_answer($exercises{'02.1'}, $text, 'answer.cu', 'cheat'))[0] eq 'solved' ? 0 : 1) if !$pid; $pid } $right, $other;
    is(join(' ', map { waitpid $_, 0; $? >> 8 } @children), '0 1', 'two at the same time have each their own verdict');

    # whoever judges does not wait for the end; with both walls, since it is a command that is interrupted
    my $place = fresh_folder('cheat');
    write_file("$place->{path}/endless.cu", $right =~ s{(return cudaGetLastError)}{volatile int on = 1;\n    while (on)\n        ;\n    $1}r);
    my $pid = fork;
    exec 'perl', 'common/judge/exercise.pl', 'exercise', 'EX=02.1', "FILE=$place->{path}/endless.cu" or die if !$pid;
    my ($folder, $ended);
    until (defined $folder || $ended) { # however long that takes here
        select undef, undef, undef, 0.1;
        ($folder) = grep { -f "$_/out" } glob "build/exercises/02.1.file.$pid.*";
        $ended = waitpid $pid, POSIX::WNOHANG;
    }
    select undef, undef, undef, 0.5;
    my $running = sub { grep { (readlink("$_/fd/1") // '') =~ m{/02\.1\.file\.$pid\.} } glob '/proc/[0-9]*' };
    cmp_ok(scalar(my @all = $running->()), '>', 0, 'an answer that never ends runs');
    kill TERM => $pid if !$ended;
    waitpid $pid, 0;
    for (1 .. 400) { # at once, where there is a core; left alone it would take a minute of one
        last if !$running->();
        select undef, undef, undef, 0.1;
    }
    is(join(' ', (grep { defined && -e } $folder), $running->()), '', '... and is gone, with its folder, when the judging is interrupted');
}

done_testing;
