# SPDX-License-Identifier: MIT
# Chapter 14: the gradients in chunks, in both types of 16 bits, around chunks, groups and slices of rows, and in every order.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('14_chunk_product');

sub shape {
    my ($batch, $lengths, $heads, $dk, $dv, $groups) = @_;
    return ('--backward', '--batch', $batch, '--seq-len', $lengths, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups);
}

is(complaint({}, $p, shape(1, '1,64,65', 2, 8, 8, 1), '--with', 'all', '--type', $_, '--variant', 'chunk'), '', "chunk, $_: around a chunk") for 'bf16', 'fp16';
is(complaint({}, $p, shape(@$_), qw(--with all --type bf16 --variant chunk)), '', "chunk: @$_") for [2, 130, 2, 72, 72, 2], [1, 65, 1, 128, 8, 1], [1, 129, 3, 16, 24, 1];
is(complaint({}, $p, shape(2, 130, 4, 24, 16, 2), qw(--with none --type), $_, qw(--variant chunk)), '', "chunk: two groups, without options, $_") for 'bf16', 'fp16';
SKIP: {
    skip 'orders are the simulator\'s', 2 if backend() ne 'sim';
    is(complaint({ CUSIM_SCHEDULE => $_ }, $p, shape(1, 130, 2, 8, 72, 1), qw(--with all --type bf16 --variant chunk)), '', "chunk, in the order $_") for 'reverse', 'random:1';
}

done_testing;
