# SPDX-License-Identifier: MIT
# Chapter 14: the layer in all combinations of its options, types, orders, and sizes around chunks and blocks, both passes.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('14_chunk_product');

sub shape {
    my ($batch, $lengths, $heads, $dk, $dv, $groups) = @_;
    return ('--batch', $batch, '--seq-len', $lengths, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups);
}

is(complaint({}, $p, shape(2, '3,5', 2, 3, 2, 1)), '', 'all options in all combinations');
is(complaint({}, $p, shape(1, 3, 2, 3, 2, 2), '--type', $_), '', "and in $_") for 'bf16', 'fp16';
for my $case (['one of each', 1, 1, 1, 1, 1, 1], ['a lane more than a warp', 1, 9, 1, 33, 3, 1], ['the most states', 1, 5, 1, 256, 2, 1], ['rows of two blocks', 1, 9, 1, 7, 17, 1],
    ['three groups of two', 2, 6, 6, 65, 5, 3], ['past a chunk', 1, '63,64,65,130', 2, 20, 6, 1], ['no step', 2, 0, 2, 3, 4, 1],
    ['no row', 2, 4, 2, 3, 0, 1]) {
    my ($name, @sizes) = @$case;
    for my $type ('float32', 'bf16') {
        is(complaint({}, $p, shape(@sizes), '--with', $_, '--type', $type), '', "$name (@sizes), $_ of the options, $type") for 'all', 'none';
    }
}
is(complaint({}, $p, shape(3, 17, 2, 10, 3, 1), '--with', 'all', '--seed', $_), '', "seed $_: a NaN or an infinity elsewhere") for 2 .. 5;
is(complaint({}, $p, shape(1, '1,64,65', 2, 8, 8, 1), '--with', 'all', '--type', $_), '', "chunk, $_: around a chunk") for 'bf16', 'fp16';
is(complaint({}, $p, shape(@$_), '--with', 'all', '--type', 'bf16', '--variant', 'chunk'), '', "chunk: @$_") for [1, 130, 1, 72, 72, 1], [1, 65, 1, 128, 8, 1];
# few heads: as many stretches as fit on a GPU, so that here each is one chunk; and two chunks, if that is asked for
is(complaint({}, $p, shape(1, '64,65,128,129', 1, 8, 8, 1), qw(--with all --type bf16 --variant stretches)), '', 'stretches: around their ends');
is(complaint({}, $p, '--forward', shape(1, 130, 2, 64, 128, 1), '--with', 'initial_state,final_state', qw(--type fp16 --variant wgmma --config rows=1)), '', 'wgmma: two heads and two slices in stretches');
is(complaint({}, $p, shape(2, 129, 1, 72, 72, 1), qw(--with all --variant stretches), '--type', $_), '', "stretches, $_: in slices") for 'bf16', 'fp16';
is(complaint({}, $p, shape(1, '128,130,260', 1, 8, 8, 1), qw(--with all --type bf16 --variant stretches --config rows=2)), '', 'stretches of two chunks');
SKIP: {
    skip 'orders are the simulator\'s', 6 if backend() ne 'sim';
    is(complaint({ CUSIM_SCHEDULE => $_ }, $p, shape(1, 9, 2, 40, 18, 1)), '', "right in the order $_") for 'reverse', 'random:1';
    is(complaint({ CUSIM_SCHEDULE => $_ }, $p, shape(1, 130, 1, 8, 72, 1), qw(--with all --type bf16 --variant chunk)), '', "chunk, in the order $_") for 'reverse', 'random:1';
    is(complaint({ CUSIM_SCHEDULE => $_ }, $p, shape(1, 130, 1, 8, 72, 1), qw(--with all --type bf16 --variant stretches)), '', "stretches, in the order $_") for 'reverse', 'random:1';
}

# ---- packed sequences: the harness's, many short ones and few long ones ----

sub packed { my ($seqs, $steps, $heads, $dk, $dv, $groups) = @_; return ('--seqs', $seqs, '--seq-len', $steps, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups) }
is(complaint({}, $p, packed(3, 7, 2, 3, 2, 1)), '', 'packed: all options in all combinations');
is(complaint({}, $p, packed(@$_), qw(--with all --type bf16)), '', "packed: @$_") for [5, 200, 1, 8, 8, 1], [9, 70, 1, 8, 72, 1], [1, 129, 1, 8, 8, 1], [4, 0, 1, 8, 8, 1];
is(complaint({}, $p, packed(@$_), qw(--with all)), '', "packed: @$_") for [0, 0, 1, 3, 2, 1], [4, 9, 0, 3, 2, 1], [20, 9, 2, 3, 5, 2];

done_testing;
