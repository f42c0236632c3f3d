# SPDX-License-Identifier: MIT
# Chapter 09: shapes around every boundary, each against the oracle, on all kinds of data; and in other orders of the simulator.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('09_selective_scan');
my $sim = backend() eq 'sim';
my @backward = complete_variants('09_selective_scan', '--backward');
my @forward = complete_variants('09_selective_scan', '--forward');
my @outputs = qw(d_u d_delta d_A d_B d_C d_D d_z d_delta_bias d_initial_state);
ok(@forward >= 3 && @backward >= 1, "forward: @forward; backward: @backward");

sub shape {
    my ($batch, $channels, $states, $groups, $lengths) = @_;
    return ('--batch', $batch, '--channels', $channels, '--states', $states, '--groups', $groups, '--seq-len', $lengths);
}

# ---- shapes, around every boundary of warps, tiles, chunks and registers; each against the oracle, on all kinds of data ----

# One tiny shape has all options in all combinations, as another one in ../selective.t; at a boundary all of them are there, or none.
is(complaint({}, $p, shape(2, 4, 3, 2, 1)), '', 'all options in all combinations');
for my $case (['lengths around a warp', [1, 2, 1, 1, '31,32,33']],
    ['lengths around a chunk, odd rows', [1, 2, 2, 2, '63,64,65,129'], '129'],
    ['a channel more than a warp', [1, 33, 2, 1, 3]], ['a group of channels each', [1, 3, 2, 3, 4]], ['groups of two warps', [1, 66, 1, 2, 2]],
    ['states beyond the registers', [1, 2, 17, 1, 6]], ['16 states', [2, 2, 16, 1, 3]], ['most states', [1, 1, 256, 1, 3]],
    ['no batch', [0, 2, 3, 1, 4]], ['no channel', [2, 0, 3, 2, 4]], ['no step', [2, 3, 3, 1, 0]]) {
    my ($name, $shape, $lengths_without) = @$case;
    is(complaint({}, $p, shape(@$shape), '--with', 'all'), '', "@$shape: $name, all of the options");
    my @without = (@$shape[0 .. 3], $lengths_without // $shape->[4]);
    is(complaint({}, $p, shape(@without), '--with', 'none'), '', "@without: $name, none of the options");
}
for my $case (['bf16', 'lengths around a chunk, odd rows', [1, 2, 2, 2, '63,129']], ['fp16', 'a chunk that is not full', [1, 2, 2, 2, 63]],
    map { [$_, 'states beyond the registers', [1, 2, 17, 1, 6]] } 'bf16', 'fp16') {
    my ($type, $name, $shape) = @$case;
    is(complaint({}, $p, shape(@$shape), '--type', $type, '--with', 'all'), '', "@$shape: $name, in $type");
}
for my $type ('float32', 'bf16') {
    is(complaint({}, $p, '--forward', shape(1, 33, 16, 1, '48,264'), '--type', $type, '--with', $_), '', "full blocks, whole chunks and rounds, $_ of the options, in $type")
        for 'all', 'none';
    is(complaint({}, $p, '--backward', '--variant', 'fused_backward', shape(1, 65, 16, 1, $type eq 'bf16' ? '44,207' : '32,44,104,207'), '--type', $type, '--with', 'all'), '',
        "a full block and another, whole tiles and more, and segments, in $type");
}
for my $variant (@forward) {
    is(complaint({}, $p, '--variant', $variant, '--forward', '--with', 'all', shape(1, 1, 2, 1, '511,513,2047,2049')), '', "$variant: lengths around a tile");
}
SKIP: {
    skip 'schedules are the simulator\'s', 2 if !$sim;
    for my $order ('reverse', 'random:1') {
        is(complaint({ CUSIM_SCHEDULE => $order }, $p, shape(1, 3, 3, 1, 130), '--with', 'all'), '', "right in the simulator's order $order");
    }
}

# Tiles of warp_specialized are 64 steps; one, two or four states a lane; a block of 16 channels, and one of the 3 that are left of a group. From
# 384 steps on, a multiple of 4, the producers of a whole block check no bounds.
for my $case (['', 2, 3, '0,1,2,3,31,33,65'], ['reverse', 1, 16, '64,129,512'], ['random:2', 1, 17, '63,516'], ['random:3', 1, 1, '128,200,456']) {
    my ($order, $batch, $states, $lengths) = @$case;
    is(complaint($sim && $order ? { CUSIM_SCHEDULE => $order } : {}, $p, '--forward', '--variant', 'warp_specialized', shape($batch, 38, $states, 2, $lengths), '--with', 'all'),
        '', "warp_specialized: $states states, lengths $lengths, order $order");
}
is(complaint({}, $p, '--forward', '--variant', 'warp_specialized', shape(1, 18, 16, 1, '65,192,452'), '--type', $_, '--with', 'all'), '', "warp_specialized: full tiles and another, in $_")
    for 'bf16', 'fp16';

# ---- packed sequences ----

is(complaint({}, $p, '--seqs', @$_), '', "packed sequences: @$_") for [qw(3 --channels 3 --states 5 --groups 1 --seq-len 70)], [qw(4 --channels 6 --states 3 --groups 3 --seq-len 21 --type bf16)], [qw(2 --channels 2 --states 70 --groups 1 --seq-len 12)];

# The copies of fused_steps are of 16 bytes, however many states there are: a warp asks for more than the four sectors of 4 bytes a lane.
SKIP: {
    skip 'the simulator counts sectors', 3 if !$sim;
    for my $states (1, 3, 17) {
        my $trace = scratch('wide.csv');
        run_program({ CUSIM_TRACE => $trace }, $p, '--forward', '--variant', 'fused_steps', shape(1, 64, $states, 1, 256), '--with', 'none');
        my ($ideal) = (run_program('perl', 'common/pages/trace.pl', $trace))[1] =~ /^fused_steps +\S+ +(\S+)/m;
        cmp_ok($ideal // 0, '>', 5, "fused_steps: wide copies with $states states");
    }
}

done_testing;
