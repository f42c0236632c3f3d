# SPDX-License-Identifier: MIT
# docs/first_chapters.ipynb is what `make notebook' makes of the chapters as they are. (long/notebook.t runs its cells.)
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Exercises;
use JSON::PP;
use Linrec;
use Test::More;

my ($status, $made, $err) = run_program('make', '-s', '--no-print-directory', 'notebook', 'NOTEBOOK=' . scratch('made.ipynb'));
is("$status$err", '0', 'make notebook');
ok(read_file(scratch('made.ipynb')) eq read_file('docs/first_chapters.ipynb'), 'the notebook is current: make notebook writes the same');

my @cells = @{ JSON::PP->new->decode(read_file('docs/first_chapters.ipynb'))->{cells} };
my @answers = map { join('', @{ $_->{source} }) =~ /\A%%writefile (\S+)\n(.*)\z/s ? [$1, "$2\n"] : () } @cells;
my ($last) = map { $_->[0] =~ /^(\d+_\w+)/ } $answers[-1];
my @exercises = grep { $_->{chapter} le $last } all_exercises();
is_deeply(\@answers, [map { [$_->{mine}, read_text($_->{path})] } @exercises], 'a cell for the answer to each exercise, which holds the task');
is(scalar(grep { $_->{cell_type} eq 'code' && (@{ $_->{outputs} } || defined $_->{execution_count}) } @cells), 0, 'no cell holds what somebody\'s run has printed');
done_testing;
