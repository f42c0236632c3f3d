# SPDX-License-Identifier: MIT
# The second wall of the judge: an answer's process cannot reach its verdict, reads nothing that it should not, and leaves nothing behind.
# The first wall, what may be in a hand-in, is taken away here. The cheats are in cheats/, with what the judge says to them in list.txt;
# long/process.t tries those that are not tried here.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Cwd 'getcwd';
use Exercises;
use HandIn;
use Linrec;
use Sandbox;
use Test::More;

my $quick = 6; # of the list
my @cheats = grep { /^\w/ } split /\n/, read_text('common/judge/tests/cheats/list.txt');
@cheats = $main::rest ? @cheats[$quick .. $#cheats] : @cheats[0 .. $quick - 1];

{
    no warnings 'redefine';
    *HandIn::refused_text = *HandIn::refused_object = sub { return undef };
}
$ENV{SECRET} = 'of whoever judges';
my %exercises = map { $_->{id} => $_ } all_exercises();
my $root = getcwd();

# What an answer may leave: files, its folder, processes.
my $name = 'linrec_left_behind';

sub left {
    my @files = grep { -e } map { "$_/$name" } '.', '/tmp', '/var/tmp', '/dev/shm';
    my @folders = grep { -d } glob "build/exercises/cheat.$$.* build/obj/sim/build/exercises/cheat.$$.*";
    my @processes = grep { (readlink("$_/fd/1") // '') =~ m{/cheat\.$$\.} } glob '/proc/[0-9]*'; # which print into our folder
    return join ' ', @files, @folders, @processes;
}

sub judged {
    my ($cheat, $exercise) = @_;
    local $Running::seconds = $cheat eq 'endless' ? 3 : 30;
    my $text = read_text("common/judge/tests/cheats/$cheat.cu") =~ s{/work/tree}{$root}gr;
    return judge_answer($exercises{$exercise}, $text, "$cheat.cu", 'cheat');
}

unlink map { "$_/$name" } '.', '/tmp', '/var/tmp', '/dev/shm';
for (@cheats) {
    my ($needs, $cheat, $exercise, $says) = /^(bubblewrap )?(\w+) (\S+) (.*)$/ or die "list.txt: $_\n";
    SKIP: {
        skip sandbox_missing(), 2 if $needs && sandbox_missing();
        my ($state, $report) = judged($cheat, $exercise);
        ok($state ne 'solved' && index($report =~ s/\s+/ /gr, $says) >= 0, "$cheat is not solved, and is told why") or diag("$state: $report");
        is(left(), '', "... and leaves nothing behind");
    }
}

# that a cheat is one: without bubblewrap it works
SKIP: {
    skip sandbox_missing(), 1 if $main::rest || sandbox_missing();
    local $Sandbox::off = 'taken away';
    my ($state, $report) = judged('reads', '02.1');
    is($state, 'solved', 'without bubblewrap an answer can read our solution') or diag($report);
}

done_testing;
