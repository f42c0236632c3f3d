# SPDX-License-Identifier: MIT
# Chapter 06: gradients of rows at every alignment, and of lengths around every tile and stage of two tiles, in both
# directions.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my %named = (
    'every remainder of the length modulo 4, so rows at every alignment' => [9, '1021,1022,1023,1025,4093,4094,4095'],
    'around every tile and stage of two tiles' =>
        [2, join(',', map { $_ - 1, $_, $_ + 1, $_ + 4 } 1024, 2048, 4096, 6144, 8192, 12288)],
);
for my $name (sort keys %named) {
    my ($num_seqs, $lengths) = @{ $named{$name} };
    for my $direction ('', '--reverse') {
        my @options = ('--backward', '--num-seqs', $num_seqs, '--seq-len', $lengths, $direction || ());
        is(complaint({}, program('06_backward'), @options), '', "$name $direction");
    }
}

done_testing;
