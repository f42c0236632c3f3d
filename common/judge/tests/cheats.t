# SPDX-License-Identifier: MIT
# Cheats: none is solved, and the judge says what it found. Here those whose text tells, and a few whose object does; long/cheats.t has all.
use strict;
use warnings;
use lib 'common/judge', 'common/judge/tests';
use Battery;
use Exercises;
use HandIn;
use Test::More;

my %object = map { $_ => 1 } qw(static_value own_main system thread_local host_copies); # a compilation each
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
cmp_ok($object, '>=', 5, 'objects are refused');

done_testing;
