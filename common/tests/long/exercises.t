# SPDX-License-Identifier: MIT
# The judge's verdicts on the exercises' skeletons, solutions, and wrong answers: on one of each; EXERCISES_ALL=1: on all of them.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Linrec;
use Exercises;
use Test::More;

for my $exercise (grep { $_->{number} > 1 || $ENV{EXERCISES_ALL} } all_exercises()) {
    for (trials($exercise, $ENV{EXERCISES_ALL} ? undef : 1)) {
        my ($what, $good, $report) = @$_;
        ok($good, "$exercise->{id}: $what") or diag($report);
    }
}

done_testing;
