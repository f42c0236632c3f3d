# SPDX-License-Identifier: MIT
# Cheats: none is solved, and the judge says what it found. Here those whose text tells, and a few whose object does; long/cheats.t has all.
use strict;
use warnings;
use lib 'common/judge', 'common/judge/tests';
use Battery;
use Exercises;
use HandIn;
use Test::More;

my %object = map { $_ => 1 } qw(static_value own_main system); # a compilation each
my ($text, $object) = (0, 0);
for (battery('cheats')) {
    my ($exercise, $name, $tries, $says, $shown) = @$_{qw(exercise name tries says shown)};
    my $report = refused_text($exercise, $_->{text}, $shown);
    if (defined $report) {
        $text++;
        ok(Exercises::said($report, $says), "$exercise->{id}, $name: $tries") or diag($report);
    } elsif ($object{$name}) {
        $object++;
        (my $state, $report) = judge_answer($exercise, $_->{text}, $shown, "$exercise->{id}.cheat");
        ok($state eq 'refused' && Exercises::said($report, $says), "$exercise->{id}, $name: $tries") or diag("$state: $report");
    }
}
cmp_ok($text, '>=', 30, 'texts are refused');
cmp_ok($object, '>=', 3, 'objects are refused');

# our solutions are known under other names, and what only looks like them is not
my $names = qr/\b(?<!\\)(?:thread|block|n|l|i|seq_len|inputs|outputs|part|row|sum|channel|state)\b/;
for my $exercise (grep { !$_->{predict} } all_exercises()) {
    my ($skeleton, $solution) = map { read_text($exercise->{$_}) } qw(path solution);
    my $renamed = $solution =~ s{/\*.*?\*/}{}gsr =~ s{^(?!#).*}{$& =~ s/$names/my_$&/gr}gemr =~ s/\n\s*/\n/gr;
    isnt($renamed, $solution, "$exercise->{id}: the solution in other words");
    is(is_known_solution($exercise, $renamed), 1, "$exercise->{id}: is known");
    my @others = ($skeleton, map { Exercises::mutate($exercise, $_, $solution) } @{ $exercise->{mutant} });
    is(scalar(grep { is_known_solution($exercise, $_) } @others), 0, "$exercise->{id}: the skeleton and the mutants are not");
    is(scalar(grep { defined refused_text($exercise, $_, $exercise->{mine}) } $solution, @others), 0, "$exercise->{id}: and none is refused");
}

done_testing;
