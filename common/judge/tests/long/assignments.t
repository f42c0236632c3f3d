# SPDX-License-Identifier: MIT
# The two larger assignments in a class: 02.6, a whole program, and 05.7, which has a leaderboard; and what a task that is right as it is handed out is worth.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Exercises;
use File::Path 'make_path';
use Run;
use Sandbox;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
mkdir($ENV{TMPDIR} = scratch('tmp'));
my %exercise = map { $_->{id} => $_ } all_exercises();

sub hand_in {
    my ($student, $id, $text) = @_;
    my $path = scratch("handed_in/$student/" . $exercise{$id}{mine});
    make_path($path =~ s{/[^/]*\z}{}r);
    write_file($path, $text);
}
sub solution { return read_text($exercise{ $_[0] }{solution}) }
sub task { return read_text($exercise{ $_[0] }{path}) }
sub mistake {
    my ($id, $name) = @_;
    my ($mutant) = grep { $_->{text} eq $name } @{ $exercise{$id}{mutant} };
    return Exercises::mutate($exercise{$id}, $mutant, solution($id));
}

my @programs = ([anna => solution('02.6'), 'solved'], [bert => mistake('02.6', 'nobody asks whether the launch has begun'), 'over_goal'], [carl => mistake('02.6', 'the coefficients are not copied'), 'wrong']);
hand_in($_->[0], '02.6', $_->[1]) for @programs;
hand_in('anna', '05.7', solution('05.7'));
hand_in('bert', '05.7', solution('05.7') =~ s/warps/all_warps/gr);
hand_in('carl', '05.7', mistake('05.7', 'eight long sequences for one warp'));
hand_in('dora', '05.7', task('05.7') =~ s/THREADS/PER_BLOCK/gr);
hand_in('emil', '05.7', task('05.7') =~ s{/\*.*?\*/}{/* mine */}gsr);

my ($status, $said, $errors) = run_program('make', '-s', 'class', sandbox_missing() ? 'UNSAFE=1' : (), 'IN=' . scratch('handed_in'), 'OUT=' . scratch('class.csv'), 'ONLY=02.6,05.7', 'BACKEND=sim');
is($status, 0, 'make class') or diag($errors);
my %line = map { my ($student, $id, @rest) = split /,/; ("$student $id" => \@rest) } split /\n/, read_text(scratch('class.csv')) // '';
is($line{"$_->[0] 02.6"}[0], $_->[2], "02.6 of $_->[0]") for @programs;
is_deeply([@{ $line{'bert 02.6'} }[1 .. 4]], [51, 60, 3, 4], 'one call that fails unnoticed: three goals of four');
is_deeply([map { $line{"$_ 05.7"}[0] } qw(anna bert carl dora emil)], [qw(solved solved over_goal over_goal missing)], '05.7');
is_deeply([@{ $line{'dora 05.7'} }[1 .. 4]], [0, 180, 3, 7], 'the task under other names has met three goals, and that is worth nothing');
is_deeply([@{ $line{'carl 05.7'} }[1 .. 4]], [135, 180, 6, 7], 'three goals of the four that the task misses');
is(read_text(scratch('class/leaderboard.csv')), <<'END', 'the leaderboard: solved ones first, then the fewest bytes; equal ones have one place');
exercise,place,student,state,bytes,chain,percent_of_add
05.7,1,anna,solved,12.0183,591,
05.7,1,bert,solved,12.0183,591,
05.7,3,carl,over_goal,12,4626,
05.7,4,dora,over_goal,19.1445,203,
END

done_testing;
