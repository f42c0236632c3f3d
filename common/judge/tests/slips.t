# SPDX-License-Identifier: MIT
# Each slip of the table in slips.c is found and asked about; what is right, or wrong in another way, is not explained.
use strict;
use warnings;
use lib 'common/tests', 'common/base';
use File::Temp 'tempdir';
use Linrec;
use Test::More;

my $folder = tempdir(CLEANUP => 1);
for (['a recurrence'], ['a sum', '-DSUM'], ['a gradient', '-DGRADIENT']) {
    my ($what, @flags) = @$_;
    my ($status, undef, $errors) = run_program($ENV{CC} || 'gcc', qw(-std=c11 -Wall -Wextra -Wpedantic -Werror -Icommon/judge -Icusim/include), @flags,
        '-o', "$folder/slips", 'common/judge/tests/slips_table.c', 'common/judge/data.c', '-lm');
    is("$status$errors", '0', "$what: the table's program is built");
    my (undef, $out) = run_program("$folder/slips");
    my ($right, $unknown, @slips) = split /\n/, $out;
    is("$right $unknown", 'right: - unknown: -', "$what: what is right, and what no slip gives, is not explained");
    cmp_ok(@slips, '>', 7, "$what: a table of slips");
    is_deeply([grep { !/^(.*): This is what .* (?:gives|is): \1\?$/ } @slips], [], "... each is asked about");
}

done_testing;
