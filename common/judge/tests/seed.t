# SPDX-License-Identifier: MIT
# SEED=: other data and, beside the listed sizes, drawn ones, which an answer cannot know.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Exercises;
use Linrec;
use Running;
use Test::More;

my %exercises = map { $_->{id} => $_ } all_exercises();

# What is tried with a seed: the hash of all outputs, the sizes, and the run itself.
sub tried {
    my ($id, $program, $seed) = @_;
    my $run = run_judge({ %{ $exercises{$id} }, seed => $seed }, $program, {}, 'compare');
    my ($bits) = $run->{said} =~ /^\@bits (\w+)/m;
    return ($bits, [$run->{said} =~ /^\@with (.*)$/mg], $run);
}

# 09.3 asks for lengths that are multiples of 16
my $exercise = $exercises{'09.3'};
my $folder = fresh_folder('seed');
my ($program, $errors) = build('sim', $exercise, $folder, read_text($exercise->{solution}), $exercise->{solution});
ok(defined $program, 'the solution is built') or diag($errors);
my ($bits, $listed) = tried('09.3', $program, undef);
my %listed = map { $_ => 1 } @$listed;
is((tried('09.3', $program, 1))[0], $bits, 'no seed is the seed 1');
my %seen;
for my $seed (7, 8) {
    my ($other, $sizes) = tried('09.3', $program, $seed);
    my @drawn = grep { !$listed{$_} && !$seen{"$seed $_"}++ } @$sizes;
    isnt($other, $bits, "seed $seed: other outputs");
    cmp_ok(scalar @drawn, '>=', 1, '... for more sizes');
    is(join('; ', grep { !/^channels (\d+), seq_len (\d+)$/ || $1 < 1 || $1 > 100 || $2 < 16 || $2 > 1008 || $2 % 16 != 0 } @drawn), '', '... such as the exercise is about');
    is((tried('09.3', $program, $seed))[0], $other, '... and the same again');
}
isnt(join(' ', sort grep { /^7/ } keys %seen), join(' ', map { s/^8/7/r } sort grep { /^8/ } keys %seen), 'another seed draws other sizes');

# an answer for the listed sizes alone
my $add = read_text($exercises{'02.1'}{solution});
my @sizes = read_text("$exercises{'02.1'}{judge}.c") =~ /\{(\d+)(?:, 1)?\}[,}]/g;
my $if = join ' || ', map { "n == $_" } @sizes, 256;
$add =~ s/(sum\[i\] = a\[i\] \+ b\[i\];)/if ($if) $1/ or die 'no such line';
is((judge_answer($exercises{'02.1'}, $add, 'add.cu', 'seed'))[0], 'solved', 'an answer that knows the list is solved');
my ($state, $report) = judge_answer({ %{ $exercises{'02.1'} }, seed => 7 }, $add, 'add.cu', 'seed');
ok($state eq 'wrong' && $report =~ /has not been written/, '... and with a seed it is not') or diag($report);

done_testing;
