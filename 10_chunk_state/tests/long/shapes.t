# SPDX-License-Identifier: MIT
# Chapter 10: shapes around every boundary, each against the oracle, on all kinds of data; and in other orders of the
# simulator.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('10_chunk_state');
my $sim = backend() eq 'sim';
my @forward = complete_variants('10_chunk_state', '--forward');
my @backward = complete_variants('10_chunk_state', '--backward');
ok(@forward >= 7 && @backward >= 4, "forward: @forward; backward: @backward");
my @with_rank = qw(low_rank plain mma default);
my @backward_with_rank = qw(low_rank plain mma default);

my @names = qw(batch chunks heads dk dv rank decays);
sub shape {
    my @options;
    push @options, "--$names[$_]", $_[$_] for 0 .. $#_;
    return @options;
}

# ---- shapes, around every boundary; each against the oracle, on all kinds of data ----

# Tiny shapes have all options in all combinations, as others in ../chunk_state.t; at a boundary all of them are there,
# or none. Where rows and ranks are many, which takes seconds, all of them: what an option does is not up to the size.
is(complaint({}, $p, shape(2, 1, 2, 3, 8, 0)), '', 'all options in all combinations');
is(complaint({}, $p, shape(2, 1, 2, 2, 3, 1)), '', 'and with a rank');
is(complaint({}, $p, shape(1, '8,17', 1, 2, 8, 0), '--backward', '--type', $_), '', "gradients in $_, of one stretch and of three") for 'bf16', 'fp16';
for my $case (['one chunk, one row, one column', [1, 1, 1, 1, 1, 0]],
    ['chunks around a tile', [1, '7,8,9,16,17', 1, 2, 8, 0]], ['columns that are no multiple of 4', [1, 5, 2, 3, 7, 0]], ['and with a rank', [1, 3, 2, 3, 7, 2]],
    ['one decay for all', [1, 5, 2, 4, 16, 0, 1]], ['and with a rank', [1, 5, 2, 4, 16, 2, 1]], ['parts of a decay', [1, 3, 1, 33, 40, 0, 1]],
    ['a slice and a bit', [1, 9, 3, 5, 72, 0]], ['columns around a warp', [1, 2, 1, 2, 33, 1]], ['256 rows', [1, 2, 1, 256, 8, 0]], ['256 rows with a rank', [1, 2, 1, 256, 3, 1]],
    ['65 rows', [1, 2, 1, 65, 3, 12]], ['129 rows', [1, 2, 1, 129, 3, 5]], ['ranks that are filled up', [1, 2, 1, 9, 5, 9]], ['the largest rank', [1, 2, 1, 17, 4, 64]],
    ['half of the largest rank and one', [1, 2, 1, 33, 5, 33]], ['rank 16', [1, 2, 1, 34, 40, 16]], ['an odd rank', [1, 4, 1, 34, 8, 13]], ['many rows and ranks', [1, 2, 1, 128, 2, 64]],
    ['no batch', [0, 3, 2, 3, 8, 0]], ['no chunk', [2, 0, 2, 3, 8, 0]], ['no head', [2, 3, 0, 3, 8, 0]], ['no row', [2, 3, 2, 0, 8, 0, 1]], ['no column', [2, 3, 2, 3, 0, 0]]) {
    my ($name, $shape) = @$case;
    is(complaint({}, $p, shape(@$shape), '--with', $_), '', "@$shape: $name, $_ of the options") for 'all', $shape->[3] * $shape->[5] > 100 ? () : $shape->[5] ? 'W' : 'none';
    next if $name !~ /filled|bit|multiple|parts|rank 16|odd/;
    is(complaint({}, $p, shape(@$shape), '--type', $_, '--with', 'all'), '', "@$shape: $name, in $_") for 'bf16', $name =~ /multiple|odd/ ? 'fp16' : ();
}
is(complaint({}, $p, '--variant', 'mma', shape(1, 2, 1, 128, 2, 64), '--type', 'bf16', '--with', 'all'), '', 'mma: many rows and ranks, in bf16');
my @split = ('--variant', 'split', '--config', 'threads=32,stages=4', shape(1, '100,333', 1, 4, 8, 0));
for my $type ('float32', 'bf16') {
    is(complaint({}, $p, @split, '--type', $type), '', "split: windows of several segments, in $type");
    is(complaint({}, $p, '--variant', $_, '--config', 'threads=32,stages=2', shape(2, 41, 3, 5, 24, 0), '--type', $type), '', "$_: stages are filled again, in $type") for 'tma', 'split';
}
is(complaint({}, $p, '--variant', $_, shape(2, 33, 1, 33, 40, 0, 1), '--backward', '--type', 'bf16'), '', "$_: parts of a decay, several stretches, in bf16") for 'registers', 'tma';
is(complaint({}, $p, '--variant', 'low_rank', '--config', "stages=$_", shape(1, 5, 1, 9, 8, 3), '--with', 'all'), '', "low_rank: stages=$_") for 1, 2, 5;
for my $type ('float32', 'bf16') {
    is(complaint({}, $p, '--variant', 'mma', '--type', $type, '--config', "stages=$_", shape(1, 7, 1, 40, 8, 3), '--with', 'all'), '', "mma in $type: stages=$_") for 2, 3, 5;
}
for my $type ('float32', 'bf16') { # more columns than mma's third launch has at a time
    is(complaint({}, $p, '--variant', 'mma', '--backward', '--type', $type, shape(1, 2, 1, 9, 67, 5), '--with', $_), '', "mma backward in $type: a tile of columns and a bit, $_") for 'all', 'W,states';
}
is(complaint({}, $p, '--variant', 'mma', '--backward', shape(1, 2, 1, 128, 2, 64), '--with', 'W,d_initial_state'), '', 'mma backward: many rows and ranks');
for my $case (['full tiles', [1, 3, 1, 64, 40, 40]], ['more than half of the rows and ranks', [1, 3, 1, 65, 5, 64]], ['24 ranks', [1, 9, 1, 33, 7, 24]]) {
    is(complaint({}, $p, '--variant', 'mma', '--type', 'bf16', shape(@{ $case->[1] }), '--with', 'all'), '', "a warpgroup: $case->[0]");
}
is(complaint({}, $p, '--variant', 'mma', '--type', 'bf16', '--config', "stages=$_->[0]", shape(1, $_->[1], 1, 40, 8, 24), '--with', 'all'), '', "a warpgroup: stages=$_->[0]") for [2, 3], [3, 4], [5, 7];
sub packed { my ($seqs, @others) = @_; return ('--seqs', $seqs, (shape(1, @others))[2 .. 2 * @others + 1], '--with', 'all') }
is(complaint({}, $p, packed(@$_)), '', "packed sequences: @$_") for [7, 3, 1, 9, 34, 5, 1], [4, 30, 1, 3, 4, 2, 1];
is(complaint({}, $p, '--variant', 'low_rank', '--config', "stages=$_", packed(4, 17, 1, 9, 8, 3)), '', "low_rank, packed: stages=$_") for 1, 2, 5;
for my $case (['float32', 3], ['bf16', 24]) {
    my ($type, $rank) = @$case;
    is(complaint({}, $p, '--variant', 'mma', '--type', $type, '--config', "stages=$_", packed(4, 17, 1, 40, 8, $rank)), '', "mma in $type, rank $rank, packed: stages=$_") for 2, 3, 5;
}
is(complaint({}, $p, '--variant', 'prefetch', '--config', "rows=$_", shape(1, 19, 1, 3, 8, 0)), '', "prefetch: $_ chunks") for 2, 4, 8, 16;
SKIP: {
    skip 'schedules are the simulator\'s', 1 if !$sim;
    for my $order ('reverse', 'random:1') {
        my $type = $order eq 'reverse' ? 'float32' : 'bf16';
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, shape(1, 9, 2, 3, 24, 2), '--type', $type, '--with', 'all'), '', "right in the simulator's order $order, with a rank, in $type");
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, '--variant', 'mma', '--config', 'stages=2', shape(1, 5, 1, 5, 16, 40), '--type', 'bf16', '--with', 'all'), '', "a warpgroup: right in the simulator's order $order");
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, shape(1, 30, 2, 3, 24, 0), '--with', 'all'), '', "right in the simulator's order $order");
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, shape(1, 30, 2, 3, 24, 0), '--backward', '--with', 'initial_state', '--type', 'bf16'), '', "gradients in bf16: right in the simulator's order $order");
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, @split, '--with', 'all'), '', "split: right in the simulator's order $order");
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, packed(6, 9, 2, 9, 34, 2), '--type', $type), '', "packed: right in the simulator's order $order");
    }
}

done_testing;
