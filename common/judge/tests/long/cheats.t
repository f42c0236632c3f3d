# SPDX-License-Identifier: MIT
# All cheats: none is solved, each is told what was found. And right answers written in unusual ways: all are solved.
# prove common/judge/tests/long/cheats.t :: NAME: that one alone.
use strict;
use warnings FATAL => 'uninitialized'; # what is judged must not be lost on the way
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
    local $Running::compiling = $_->{name} eq 'compile_bomb' ? 3 : $Running::compiling; # seconds, of which it takes all
    my ($state, $report, @goals) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
    is(goals_met(@goals), $_->{met}, "$_->{exercise}{id}, $_->{name}: goals") if defined $_->{met};
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
my %object_tells = map { $_ => 1 } qw(asm_entry constructor counters destructor ifunc section watch_redefined);
{
    no warnings 'redefine';
    local *HandIn::refused_text = sub { return undef };
    for (grep { $object_tells{ $_->{name} } } @cheats) {
        my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
        is($state, 'refused', "$_->{name}: by its object alone") or diag($report);
    }
    local *HandIn::refused_object = sub { return undef };
    local $Sandbox::off = 'taken away'; # where a compiler would not find it
    for (grep { $_->{name} =~ /^(?:solution|own_variables)$/ } @cheats) {
        my ($state, $report) = judge_answer($_->{exercise}, $_->{text}, $_->{shown}, "$_->{exercise}{id}.cheat");
        is($state, 'solved', "$_->{name}: solved where hand-ins are not looked at") or diag($report);
    }
}

# `may:' is what lets an answer allocate and copy: without it the same answer is refused.
my ($program) = grep { $_->{may} } all_exercises();
for ([$program->{may}, 'solved'], ['cudaFree', 'refused'], [undef, 'refused']) {
    my ($may, $want) = @$_;
    my ($state, $report) = judge_answer({ %$program, may => $may }, read_text($program->{solution}), $program->{solution}, "$program->{id}.may");
    is($state, $want, "$program->{id}, may: " . ($may // 'nothing')) or diag($report);
    like($report, qr/^  `cudaM\w+' is not for this exercise: /m, '... by name') if $want eq 'refused';
}

# What a compiler for ARM calls for the atomics of C, which no compiler here makes; and what only looks like it.
my ($c) = grep { $_->{on_cpu} } all_exercises();
my $folder = fresh_folder("$c->{id}.arm");
for (['__aarch64_ldadd4_acq_rel', 1], ['__aarch64_swp8_relax', 1], ['__aarch64_anything', 0]) {
    my ($name, $may) = @$_;
    write_text("$folder->{path}/answer.c", "int $name(int, int *);\nstatic int n;\nstatic inline int add(void) { return $name(1, &n); }\nint (*const add_one)(void) = add;\n");
    system($ENV{CC} || 'gcc', '-std=c11', '-MMD', '-c', "$folder->{path}/answer.c", '-o', "$folder->{path}/answer.o") == 0 or die 'gcc';
    no warnings 'redefine';
    local *HandIn::taken = sub { return {} };
    is(defined HandIn::refused_object($c, "$folder->{path}/answer.o", read_text("$folder->{path}/answer.c"), $c->{mine}) ? 0 : 1, $may, $name);
}

done_testing;
