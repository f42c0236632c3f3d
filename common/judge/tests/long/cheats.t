# SPDX-License-Identifier: MIT
# All cheats: none is solved, each is told what was found. And right answers written in unusual ways: all are solved.
# prove common/judge/tests/long/cheats.t :: NAME: that one alone.
use strict;
use warnings;
use lib 'common/judge', 'common/judge/tests';
use Battery;
use Exercises;
use HandIn;
use Running;
use Test::More;

my ($only) = @ARGV;
my @cheats = grep { !defined $only || $_->{name} eq $only } battery('cheats');
my @oddities = grep { !defined $only || $_->{name} eq $only } battery('oddities');

for (@cheats) {
    local $Running::compiling = $_->{name} eq 'compile_bomb' ? 10 : $Running::compiling; # seconds, of which it takes all
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

# What the text says, the object shows, too, where it can; and with neither look some cheats are solved: it is this wall that stops them.
my %object_tells = map { $_ => 1 } qw(asm_entry constructor counters destructor ifunc judges_header section solution solution_trigraph watch_redefined);
{
    no warnings 'redefine';
    local *HandIn::refused_text = sub { return undef };
    for (grep { $object_tells{ $_->{name} } } @cheats) {
        my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
        is($state, 'refused', "$_->{name}: by its object alone") or diag($report);
    }
    local *HandIn::refused_object = sub { return undef };
    for (grep { $_->{name} eq 'solution' } @cheats) {
        my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
        is($state, 'solved', "$_->{name}: solved where hand-ins are not looked at") or diag($report);
    }
}

done_testing;
