# SPDX-License-Identifier: MIT
# Chapter 13: shapes around every boundary, each against the oracle on all kinds of data, in all types; and in other orders of the simulator.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('13_layout');
my $sim = backend() eq 'sim';

for my $case (['no step and one', 2, '0,1', 3], ['no channel', 2, 5, 0], ['no batch', 0, 5, 3], ['steps of a warp', 1, '7,8,9,15,16,17', 2], ['of a block', 1, '63,64,65', 4],
    ['and of several', 2, '127,128,129,300', 3], ['channels of a warp', 1, 20, 32], ['of wide ones', 1, 20, 64], ['and one more', 1, 20, 65], ['of wider ones', 1, 20, 128],
    ['and four more', 1, 40, 132], ['lines of a box', 2, '1,31,32,33', 8], ['boxes of a block', 1, '255,256,257', 40], ['and of several', 2, 520, 24]) {
    my ($name, $batch, $lengths, $channels) = @$case;
    my @shape = ('--batch', $batch, '--seq-len', $lengths, '--channels', $channels);
    is(complaint({}, $p, @shape, '--with', $_), '', "$batch x $lengths x $channels: $name, $_ of the options") for 'all', 'none';
    is(complaint({}, $p, @shape, '--with', 'all', '--type', $_), '', "$batch x $lengths x $channels: $name, in $_") for 'bf16', $channels > 60 ? () : 'fp16';
}
for my $threads (32, 64, 512) {
    my @shape = qw(--batch 1 --seq-len 530 --channels 3);
    is(complaint({}, $p, @shape, '--with', 'all', '--variant', 'split', '--config', "threads=$threads"), '', "split with $threads threads");
}
for my $case (['one sequence', 1, '1,40'], ['as many as steps', 33, 33], ['more than steps', 50, 7], ['no step', 4, 0], ['long and short ones', 20, '300,600'], ['many in a chunk', 300, 300]) {
    my ($name, $seqs, $lengths) = @$case;
    for my $channels (3, 8) {
        my @shape = ('--seqs', $seqs, '--seq-len', $lengths, '--channels', $channels);
        is(complaint({}, $p, @shape, '--with', $_), '', "packed, $seqs in $lengths x $channels: $name, $_ of the options") for 'all', 'none';
        is(complaint({}, $p, @shape, '--with', 'all', '--type', 'bf16'), '', "packed, $seqs in $lengths x $channels: $name, in bf16");
    }
}
SKIP: {
    skip 'orders are the simulator\'s', 1 if !$sim;
    for my $order ('reverse', 'random:1', 'warp') {
        my %order = (CUSIM_SCHEDULE => $order);
        is(complaint(\%order, $p, qw(--batch 2 --seq-len 300 --channels 8)), '', "right in the order $order");
        is(complaint(\%order, $p, qw(--seqs 9 --seq-len 300 --channels 8 --type bf16)), '', "packed, in the order $order");
    }
    is(complaint({ CUSIM_RESIDENT => 1 }, $p, qw(--batch 1 --seq-len 600 --channels 8)), '', 'and on a chip with room for one block');
}

done_testing;
