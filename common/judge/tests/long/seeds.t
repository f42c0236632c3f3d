# SPDX-License-Identifier: MIT
# Right answers are judged right by every seed: our solutions, with a few seeds that each day has of its own, which the output tells.
# SEEDS=20 tries 1 to 20, and ONLY='1[12]\.' the exercises whose number begins so.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Exercises;
use Linrec;
use Running;
use Test::More;

my ($day, $month, $year) = (gmtime)[3 .. 5];
my $today = 10000 * ($year + 1900) + 100 * ($month + 1) + $day;
my @seeds = $ENV{SEEDS} ? (1 .. $ENV{SEEDS}) : map { 10 * $today + $_ } 1 .. 3;
my $only = $ENV{ONLY} // '';
note("seeds @seeds");

# Whether one of the seeds refuses the program, and what the judge says to that.
sub refused {
    my ($exercise, $program) = @_;
    my @refused;
    for my $seed (@seeds) {
        my $run = run_judge({ %$exercise, seed => $seed }, $program, {}, 'compare');
        push @refused, "seed $seed: $run->{said}$run->{complained}" if !$run->{right};
    }
    return @refused;
}

# The same of a prediction, whose numbers may be drawn.
sub mispredicted {
    my ($id) = @_;
    my @refused;
    for my $seed (@seeds) {
        my ($drawn) = grep { $_->{id} eq $id } all_exercises($seed);
        my ($state, $report) = judge_answer($drawn, solution_text($drawn), $drawn->{path}, "$id.seeds");
        push @refused, "seed $seed: $report" if $state ne 'solved';
    }
    return @refused;
}

for my $exercise (grep { $_->{id} =~ /^$only/ } all_exercises()) {
    my @refused;
    if ($exercise->{predict}) {
        @refused = mispredicted($exercise->{id}) if $exercise->{draw} || $only ne '';
    } else {
        my $folder = fresh_folder("$exercise->{id}.seeds");
        my ($program, $errors) = build('sim', $exercise, $folder, read_text($exercise->{solution}), $exercise->{solution});
        @refused = defined $program ? refused($exercise, $program) : $errors;
    }
    is(scalar @refused, 0, "$exercise->{id}: no seed refuses our solution") or diag(join "\n", @refused);
}

done_testing;
