# SPDX-License-Identifier: MIT
# make classroom: what students get has no line that only solutions, mistakes and tests have; and the commands that they type, and the workflow, work there.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Cwd 'getcwd';
use Exercises;
use Run;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
plan skip_all => 'git tracks nothing here' if (run_program('git', 'ls-files', '--error-unmatch', 'Makefile'))[0] ne 0;
my ($root, $room) = (getcwd(), scratch('room'));
my ($status, $said, $errors) = run_program('make', '-s', 'classroom', "OUT=$room");
is($status, 0, 'make classroom') or diag($errors);

# ---- what is in it ----

my @here = split /\0/, (run_program('git', 'ls-files', '-z'))[1];
my @there = split /\0/, (run_program('git', '-C', $room, 'ls-files', '-z'))[1];
is_deeply([grep { m{/solutions/|(^|/)tests/(?!decay/)} } @there], [], 'no solutions, no tests');
ok(-f "$room/common/tests/decay/launch.cu", 'but what a project begins with');
is_deeply([grep { m{^docs/teach/} } @there], ['docs/teach/project.md'], 'of what those who teach have, the project alone');
ok(scalar(grep { $_ eq '.github/workflows/judge.yml' } @there), 'a workflow');

# lines of solutions that stand nowhere else than in solutions, tests and mistakes
sub lines_of { return grep { length >= 16 } map { s/^\s+|\s+$//g; s/\s+/ /g; $_ } split /\n/, $_[0] }
my (%others, %ours);
for my $path (grep { -f && !/\.(?:svg|png|csv)$/ } @here) {
    my $text = read_text($path);
    if ($path =~ m{/exercises/solutions/.*\.cu?$}) {
        $ours{$_} //= $path for lines_of($text);
    } elsif ($path !~ m{/exercises/solutions/|(?:^|/)tests/}) {
        $text =~ s/^[-+].*//mg if $path =~ m{/exercises/judges/\w+\.txt$};
        $others{$_} = 1 for lines_of($text);
    }
}
delete @ours{ keys %others };
my %answers = map { $_ => 1 } values %ours;
cmp_ok(scalar keys %answers, '>', 20, 'most solutions have lines of their own');
my @leaks;
for my $path (grep { !/\.(?:svg|png|csv)$/ } @there) {
    push @leaks, map { "$path: $_ (of $ours{$_})" } grep { $ours{$_} } map { s/^[-+] //r } lines_of(read_text("$room/$path"));
}
is_deeply(\@leaks, [], 'and none of them is there') or diag(join "\n", @leaks[0 .. ($#leaks < 5 ? $#leaks : 5)]);

# links lead somewhere
my @broken;
for my $path (grep { /\.md$/ } @there) {
    my $folder = $path =~ m{^(.*)/} ? "$1/" : '';
    my $text = read_text("$room/$path") =~ s/^```.*?^```//gmsr;
    push @broken, map { "$path: $_" } grep { !-e "$room/$folder$_" } $text =~ /\]\((?!\w+:)([^()\s#]+)/g;
}
is_deeply(\@broken, [], 'every link leads to something that is there');

# ---- what students type ----

sub in_room { return run_program('make', '-s', '-C', $room, 'BACKEND=sim', @_) }
($status, $said, $errors) = in_room('solution', 'EX=02.1');
like($errors, qr/^There are no solutions here; make hint EX=02.1 helps.$/m, 'make solution says so in a sentence');
like((in_room('hint', 'EX=02.1'))[1], qr/^Hint 1 of \d/, 'make hint');
like((in_room('exercise', 'EX=02.1'))[1], qr/has not been written/, 'the task is not solved');
my ($exercise) = grep { $_->{id} eq '02.1' } all_exercises();
write_file("$room/$exercise->{mine}", read_text($exercise->{solution}));
like((in_room('exercise', 'EX=02.1'))[1], qr/^Solved\.$/m, 'a right answer is');
like((in_room('exercises'))[1], qr/^1 of \d+ solved/m, 'make exercises knows');
run_program('git', '-C', $room, 'add', '--all');
is((run_program('git', '-C', $room, 'ls-files', '02_cuda_ref/exercises/mine'))[1], "$exercise->{mine}\n", 'git tracks the answer, and nothing beside it');

# the workflow's own commands
my ($commands) = read_text("$room/.github/workflows/judge.yml") =~ /^      - name: judge\n        run: \|\n(.*)\z/ms;
($status, $said, $errors) = run_program({ RUNNER_TEMP => scratch(), GITHUB_STEP_SUMMARY => scratch('summary.md') }, 'bash', '-e', '-c', "cd '$room'\n$commands");
is($status, 0, 'the workflow') or diag($errors);
my $summary = read_text(scratch('summary.md')) // '';
like($summary, qr/^\*\*15 of \d+ points\*\*$/m, 'its summary has the points');
like($summary, qr/^\| 02.1 A first kernel \| solved \| 15 \| 15 \|  \|$/m, 'and a line for what was handed in');

# ---- bad input ----

refuses('make classroom: no folder', qr/^Into which folder\?/, 'perl', 'common/judge/classroom.pl');
refuses('make classroom: a folder that is not empty', qr/is there already/, 'perl', 'common/judge/classroom.pl', "OUT=$room");
done_testing();
