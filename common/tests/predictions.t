# SPDX-License-Identifier: MIT
# The numbers of predictions, drawn by a seed: without one the tasks say what they say in the repository, with one the student's copy, the
# questions and the hints say the same numbers. That what is counted then is right, trials() in exercises.t tries.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Linrec;
use Exercises;
use Test::More;

for my $exercise (grep { $_->{draw} } all_exercises()) {
    is(task_text($exercise), read_text($exercise->{path}), "$exercise->{id}: without a seed the task is as it stands");
}

# a number that is drawn, but stands in a question or a hint as it stands in the task (small ones may mean something else there)
my @forgotten;
for my $exercise (map { $_->{as_read} } grep { $_->{draw} } all_exercises()) {
    my @texts = ($exercise->{next}, map { ($_->{text} // (), $_->{look} // ()) } map { @{ $exercise->{$_} } } qw(ask hint));
    for my $says (grep { /^\d+$/ && $_ >= 20 } map { $_->{says} // () } @{ $exercise->{draw} }) {
        push @forgotten, map { "$exercise->{id}: $says in `$_'" } grep { $_ =~ Draw::place($says) } @texts;
    }
}
is_deeply(\@forgotten, [], 'questions and hints name numbers that are drawn');

my (%tasks, @left, @lacks);
for my $seed (2 .. 12) {
    for my $exercise (grep { $_->{draw} } all_exercises($seed)) {
        my $task = task_text($exercise);
        $tasks{ $exercise->{id} }{$task}++;
        my @texts = ($exercise->{next}, map { $_->{text} // () } @{ $exercise->{hint} });
        push @left, grep { /\$\{?[a-z]/ } @texts, map { $_->{look} // () } @{ $exercise->{ask} };
        push @lacks, grep { $task !~ /^\Q$_\E = \?$/m } map { $_->{text} =~ /^(\S+) =/ } @{ $exercise->{ask} };
    }
}
cmp_ok(keys %{ $tasks{$_} }, '>', 5, "$_: eleven seeds ask about more than five different tasks") for sort keys %tasks;
is_deeply(\@left, [], 'no hint holds a name in place of a number');
is_deeply(\@lacks, [], 'each question is a line of the student\'s copy');

# a fraction that was rounded too early is told from one that is wrong
my ($roof) = grep { $_->{id} eq '07.3' } all_exercises();
for (['1.0' => 'is close to what was counted'], ['1.1' => 'All bytes over the bytes in a second.']) {
    my ($typed, $says) = @$_;
    my ($state, $report) = judge_answer($roof, solution_text($roof) =~ s/^least_ms = \K\S+/$typed/mr, 'roof.txt', '07.3.near');
    ok($state eq 'wrong' && $report =~ /^least_ms = \Q$typed\E .*\Q$says\E/s, "least_ms = $typed: the judge says `$says'") or diag($report);
}

# what judges/NAME.txt may not say
for (['draw: n 300 in 5..200', qr/its? choices/], ['draw: n = 4', qr/is not like/], ['let: n 4', qr/is not like/]) {
    my ($line, $says) = @$_;
    ok(!eval { Draw::read_draw(split(/: /, $line, 2)); 1 } && $@ =~ $says, "refused: `$line'");
}
my %twice = (judge => 'x', draw => [map { { name => $_, says => '30' } } 'a', 'b']);
ok(!eval { Draw::draw_task(\%twice, '30 rows', { a => 1, b => 2 }) } && $@ =~ /`30' is both a and b/, 'refused: two numbers that the task says alike');
ok(!eval { Draw::draw_task(\%twice, '300 rows', { a => 1, b => 2 }) } && $@ =~ /does not say `30'/, 'refused: a number that the task does not say');
is(Draw::draw_task({ draw => [{ name => 'n', says => '30' }, { name => 'm', says => '16' }] }, 'of_30 = ?, 30 rows, 300, 3.30, 16 of bf16', { n => 16, m => 30 }),
    'of_16 = ?, 16 rows, 300, 3.30, 30 of bf16', 'numbers are put all at once, and not into longer ones or names');

done_testing;
