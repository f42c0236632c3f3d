# SPDX-License-Identifier: MIT
# docs/holdout.md, followed word by word: its files are written, its commands run, and they do what it says.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Exercises;
use File::Path 'make_path';
use Run;
use Sandbox;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
$ENV{HOME} = scratch();
my $page = read_text('docs/holdout.md');
my (%file, @commands);
while ($page =~ /^((?:[^\n]+\n)*[^\n]*)\n\n```(\w+)\n(.*?)^```/gms) {
    my ($before, $kind, $text) = ($1, $2, $3);
    if ($kind eq 'sh') {
        push @commands, split /\n/, $text;
    } else {
        my ($path) = $before =~ /`(\d\d_\w+\/exercises\/[\w\/.]+)`/ or next;
        $file{$path} = $text;
    }
}
is(scalar keys %file, 4, 'four files');
sub does { return run_program('bash', '-c', $_[0]) }
my ($folders, $try, $exercise, $class) = @commands;
is((does($folders))[0], 0, $folders);
write_file(scratch("holdout/$_"), $file{$_}) for keys %file;

my ($status, $said, $errors) = does($try);
is($status, 0, $try) or diag($said, $errors);
is(scalar(() = $said =~ /^ok - 02.8 /mg), 4, 'the task, the solution and two mistakes');
($status, $said, $errors) = does("$exercise BACKEND=sim");
like($said, qr/^Solved\.$/m, $exercise) or diag($errors);

# a class of one
make_path(scratch('handed_in/anna'));
write_file(scratch('handed_in/anna/gaps.cu'), $file{'02_cuda_ref/exercises/solutions/gaps.cu'});
my @unsafe = sandbox_missing() ? 'UNSAFE=1' : ();
($status, $said, $errors) = does(join ' ', (map { /^(IN|OUT)=(.*)/ ? "$1=" . scratch($2) : $_ } split / /, $class), @unsafe);
is($status, 0, $class) or diag($errors);
like(read_text(scratch('class.csv')) // '', qr/^anna,02.8,solved,15,15,1,1,/m, 'is in the table');
ok(!-e '02_cuda_ref/exercises/gaps.cu' && !-e '02_cuda_ref/exercises/judges/gaps.txt', 'and not among the course\'s files');

# ---- what may be wrong with such a folder ----

refuses('no exercises', qr/has no exercises/, 'perl', 'common/judge/exercise.pl', 'try', 'EX=02.8', 'EXERCISES=' . scratch('handed_in'));
write_file(scratch('holdout/02_cuda_ref/exercises/judges/gaps.txt'), $file{'02_cuda_ref/exercises/judges/gaps.txt'} =~ s/^number: 8/number: 1/r);
refuses('a number that is taken', qr/there is an exercise 02.1 already; take the next number/, 'perl', 'common/judge/exercise.pl', 'try', 'EX=02.1', "EXERCISES=$ENV{HOME}/holdout");
done_testing();
