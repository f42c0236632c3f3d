# SPDX-License-Identifier: MIT
# All cheats: none is solved, each is told what was found. And right answers written in unusual ways: all are solved.
# prove common/judge/tests/long/cheats.t :: NAME: that one alone.
use strict;
use warnings;
use lib 'common/judge', 'common/judge/tests';
use Battery;
use Exercises;
use Test::More;

my ($only) = @ARGV;
my @cheats = grep { !defined $only || $_->{name} eq $only } battery('cheats');
my @oddities = grep { !defined $only || $_->{name} eq $only } battery('oddities');

for (@cheats) {
    my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
    ok((defined $_->{state} ? $state eq $_->{state} : $state =~ /^(?:refused|wrong)$/) && (!defined $_->{says} || Exercises::said($report, $_->{says})),
        "$_->{exercise}{id}, $_->{name}: $_->{tries}: $state") or diag("$state: $report");
}
for (@oddities) {
    my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.oddity");
    is($state, 'solved', "$_->{exercise}{id}, $_->{name}: $_->{tries}") or diag($report);
}
if (!defined $only) {
    cmp_ok(scalar @cheats, '>=', 30, 'cheats are there');
    cmp_ok(scalar @oddities, '>=', 20, 'oddities are there');
}

done_testing;
