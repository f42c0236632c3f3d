# SPDX-License-Identifier: MIT
# Chapter 08: one_hop's plan, its words, and a workspace that it shares with the other kernels, launch after launch.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_BUSY CUSIM_WATCHDOG CUSIM_CHIP)};
is(system('make', '-s', '-j2', '-C', '08_lookback/tests', 'BACKEND=' . backend()), 0, 'the programs build without a warning') or BAIL_OUT('no programs');
my $p = program('08_lookback');

# What a program of this folder says, with its complaints.
sub said {
    my ($settings, $program, @arguments) = @_;
    my ($status, $out, $err) = run_program($settings, patiently(60, 'build/' . backend() . "/extra/tests_$program", @arguments));
    return "$out$err" . ($status eq 0 ? '' : "status $status");
}

# ---- the plan: which tiles, from small to large ones; rows x threads, tiles of a sequence, tiles of all ----

my $none = 'cudaErrorNotSupported';
for my $case (
    ['1 65536 0 0 1', "2x256: 32, 32; 4x256: 16, 16; 4x512: 8, 8; $none", 'a tile for each lane'],
    ['1 65537 0 0 1', "4x256: 17, 17; 4x512: 9, 9; $none", 'a tile more'],
    ['16 65536 0 0 1', "2x256: 32, 512; 4x256: 16, 256; 4x512: 8, 128; $none", 'as many as have room in the workspace'],
    ['17 65536 0 0 1', "4x256: 16, 272; 4x512: 8, 136; $none", 'and not more'],
    ['1 524285 0 0 1', "4x256: 128, 128; 4x512: 64, 64; $none", '128 tiles'],
    ['1 524286 0 0 1', "4x512: 65, 65; $none", 'the first group of an odd length may begin 3 elements early'],
    ['1 524289 0 0 1', "4x512: 65, 65; $none", '129 tiles are fewer large ones'],
    ['1 2097149 0 0 1', "4x512: 256, 256; $none", 'the longest sequence'],
    ['1 2097150 0 0 1', 'cudaErrorInvalidValue', 'a longer one'],
    ['512 1 0 0 1', "2x256: 1, 512; 4x256: 1, 512; 4x512: 1, 512; $none", 'the most sequences'],
    ['513 1 0 0 1', 'cudaErrorInvalidValue', 'one more'],
    ['3 1048576 0 0 1', "4x512: 128, 384; $none", 'several long ones'],
    ['1 65536 1 64 1', "1x64: 256, 256; 1x64: 256, 256; 1x64: 256, 256; $none", 'tiles that --config says'],
    ['1 65537 1 64 1', $none, 'too many of these'],
    ['1 4096 2 0 1', "2x256: 2, 2; 2x256: 2, 2; 2x512: 1, 1; $none", 'rows alone'],
    (map { ["1 4096 $_ 1", 'cudaErrorInvalidValue', "no such tiles: $_"] } '3 0', '8 256', '4 33', '4 544'),
    ['1 65536 0 0 0', $none, 'a chip without cooperative launches'],
) {
    my ($arguments, $expected, $what) = @$case;
    is(said({}, 'plan', split ' ', $arguments), "$expected\n", "the plan, $arguments: $what");
}

# ---- the words: all that a sequence can have, and a half of a tile's is none ----

is(said({}, 'words', 'all'), "right\n", 'one_hop_carry: of 1 to 255 tiles, in their order');
if (backend() eq 'sim') {
    for my $half ('product', 'sum') {
        like(said({}, 'words', $half, $_), qr/polls byte \d+ of .* which never changes/, "where of tile $_ only the $half is new, it waits") for 0, 150, 199;
    }
    is(said({}, 'words', 'sum', 200), "right\n", 'for the tiles before, and no other');
}

# ---- edges of tiles, and of what the lanes look at: one tile for each, and then two ----

for my $lengths ('127,128,129', '4093,4096,4097', '8189') {
    is(complaint({}, $p, '--variant', 'one_hop', '--config', 'rows=1,threads=32', '--num-seqs', 1, '--seq-len', $lengths, '--with', 'all'), '', "around tiles of 128: $lengths");
}
is(complaint({}, $p, '--variant', 'one_hop', '--config', "rows=$$_[0],threads=$$_[1]", '--num-seqs', 3, '--seq-len', $$_[2], '--with', 'all'), '',
    "three sequences, $$_[0] rows and $$_[1] threads: around tiles") for [2, 96, '767,768,769'], [4, 64, '1023,1024,1025'], [4, 512, '8193'], [1, 512, '2049'];

# ---- one workspace, launch after launch ----

for my $order (backend() eq 'sim' ? qw(warp reverse random:1) : 'warp') {
    my %settings = (CUSIM_SCHEDULE => $order);
    is(said(\%settings, 'in_turn', 'kernels'), "right\n", "order $order: all kernels in one workspace, in turn, of sizes that change");
    is(said(\%settings, 'in_turn', 'graph'), "right\n", "order $order: in a graph that is launched several times, with others between");
    is(said(\%settings, 'in_turn', 'numbers'), "right\n", "order $order: when the numbers of launches begin again");
    is(said(\%settings, 'in_turn', 'begun'), "right\n", "order $order: initialised again after a launch that did not end");
}

done_testing;
