#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# clusters.t - the simulator: blocks in clusters. Right kernels are right in every order, with few and with many blocks at once; and what is wrong with
# the others is told: a missing barrier, a block that ends too early or has not begun, a barrier that some never come to, a launch that no chip takes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_WATCHDOG)};

my $source = 'tests/clusters.cu';
my @orders = qw(warp reverse random:1 random:2 random:3);
my $tile   = qr/tile\[\d+\]/;
my $at     = qr/declared at \Q$source\E:\d+/;

is(build_programs(), 1, 'programs build without a warning') or BAIL_OUT('no programs');

# ---- right ones ----

for my $name (qw(exchange tell_all ring count flag global handed_on leaves asks goes_around)) {
    for my $size (1, 3, 16) {
        my @wrong = grep { join('|', run($_, $name, $size)) ne "0|right\n|" } @orders;
        is("@wrong", '', "$name, clusters of $size: right in every order");
    }
}
for my $resident (1, 7, 64) {
    my @wrong = grep { join('|', run_program({ CUSIM_SCHEDULE => $_, CUSIM_RESIDENT => $resident }, 'build/tests/clusters', 'tell_all', 4)) ne "0|right\n|" } @orders;
    is("@wrong", '', "tell_all: right with room for $resident blocks; a cluster comes as a whole");
}
is(join('|', run($_, 'places')), "0|right\n|", "ranks in a grid of three dimensions, order $_") for @orders;
is(join('|', run('warp', 'alone')), "0|right\n|", 'without the attribute each block is a cluster');
is(join('|', run('warp', 'nine_allowed')), '0||', 'more than 8 blocks, where the kernel is allowed them');

# ---- mistakes: what is said, the same in every order but for who is first. PLACE: the line marked THERE; the fault is at the one marked HERE, or there ----

my $between = 'and nothing orders the two blocks. Put the barrier of the cluster between them';
my %told = (
    no_barrier    => qr/race: (?:reads $tile of block \(\d,0,0\), which thread \(\d+,0,0\) of block \(\d,0,0\) has written at PLACE|writes $tile, which thread \(\d+,0,0\) of block \(\d,0,0\) has read at \S+), $between/,
    block_barrier => qr/race: writes $tile.*, which thread \(\d+,0,0\) of block \(\d,0,0\) has written at \S+, $between/,
    relaxed       => qr/race: reads $tile of block \(\d,0,0\), which thread \(\d+,0,0\) of block \(\d,0,0\) has written at PLACE, $between/,
    after_arrival => qr/race: (?:reads $tile of block|writes $tile).* of block \(\d,0,0\) has (?:written|read) at \S+, $between/,
    no_way_back   => qr/race: (?:writes $tile of block \(\d,0,0\), which thread \(\d+,0,0\) of block \(\d,0,0\) has read at PLACE|reads $tile, which thread \(\d+,0,0\) of block \(\d,0,0\) has written at \S+), $between/,
    global_race   => qr/race: (?:reads|writes) byte \d+ of the \d+-byte allocation .* of block \(\d,0,0\) has (?:written|read) at \S+\. Blocks run in any order/,
    leaves_early  => qr/block \(\d,0,0\): thread \(\d+,0,0\) of block \(\d,0,0\) reads $tile, and nothing keeps this block from ending before|reads $tile of block \(\d,0,0\), which has ended. Put the barrier of the cluster between this and its end/,
    leaves_long_before => qr/reads $tile of block \(\d,0,0\), which has ended|thread \(\d+,0,0\) of block \(\d,0,0\) reads $tile, and nothing keeps this block from ending before/,
    leaves_before_write => qr/thread \(\d+,0,0\) of block \(\d,0,0\) writes $tile, and nothing keeps this block from ending before|writes $tile of block \(\d,0,0\), which has ended/,
    not_begun     => qr/writes $tile of block \(\d,0,0\), which may not have begun. Let all threads of the cluster call cluster_arrive_relaxed\(\)/,
    comes_twice   => qr/cluster_arrive by a thread that has come to the barrier of the cluster before, at PLACE, and has not waited since/,
    waits_only    => qr/cluster_wait by a thread that has not come to the barrier of the cluster/,
    half_warp     => qr/cluster_arrive by a part of warp \d of block \(\d,0,0\), of which another part has come at PLACE/,
    block_skips   => qr/cluster_wait never ends: 64 of the 128 threads of the cluster have come to its barrier, and thread \(0,0,0\) of block \(\d,0,0\) has ended/,
    warp_skips    => qr/cluster_wait never ends: 96 of the 128 threads of the cluster have come to its barrier, and thread \(32,0,0\) of block \(\d,0,0\) has ended/,
    elsewhere     => qr/cluster_wait never ends: 96 of the 128 threads .*, while thread \(32,0,0\) of block \(\d,0,0\) waits at __syncthreads at PLACE/,
    crossed       => qr/polls ready, which never changes: no thread that runs will change it/,
    past_end      => qr/writes $tile(?: of block \(\d,0,0\))?, past the end \(the last is $tile, $at\)/,
    past_dynamic  => qr/reads part\[\d+\](?: of block \(\d,0,0\))?, past the end \(the last is part\[31\], $at\)/,
    no_such_rank  => qr/cluster_shared for the block of rank 2 in a cluster of 2/,
    of_global     => qr/cluster_shared of byte 0 of the \d+-byte allocation/,
    other_cluster => qr/writes $tile, which was another block's/,
    unwritten     => qr/reads number(?: of block \(\d,0,0\))?, which no thread of this cluster has written/,
    far_mbarrier  => qr/mbarrier_expect accesses barrier of block \(\d,0,0\). The simulator has mbarriers and bulk copies within a block only/,
    far_bulk_copy => qr/tma_load writes $tile of block \(\d,0,0\)/,
    sends_too_early  => qr/writes word of block \(\d,0,0\), which may not have begun/,
    sends_unshown    => qr/cluster_send with the barrier initialised at \S+, which other blocks do not see yet. Call mbarrier_init_done/,
    sends_to_nothing => qr/cluster_send with a barrier that is not initialised/,
    waits_nearby     => qr/mbarrier_wait for a phase of the barrier initialised at \S+ to which another block has sent. Wait by cluster_receive/,
    reads_too_early  => qr/reads word, to which the copy of PLACE is on its way/,
    sends_too_little => qr/cluster_receive for parity 0 never ends: phase 0 of the barrier initialised at \S+ lacks 8 of 16 announced bytes. Announce in mbarrier_expect as many bytes as blocks of the cluster send/,
    sends_too_much   => qr/cluster_receive for a phase that has 8 bytes more than the 8 announced, the last by cluster_send at PLACE/,
    sends_in_vain    => qr/cluster_send of 8 bytes, and the block ended before anybody waited for phase 0 of the barrier|cluster_send to word of block \(\d,0,0\), which has ended. Let that block wait/,
    sends_again      => qr/(?:race: writes word of block \(\d,0,0\), which thread \(\d+,0,0\) of block \(\d,0,0\) has read at PLACE, $between|(?:reads|writes) word.*to which the copy of \S+ is on its way)/,
    sends_to_half    => qr/cluster_send to an address that is not aligned to 8/,
    far_copy      => qr/__pipeline_memcpy_async writes $tile of block \(\d,0,0\)/,
);
for my $name (sort keys %told) {
    my ($here, $there) = map { line_of("$_ $name") } 'HERE', 'THERE';
    my $like = $told{$name} =~ s/PLACE/$source:$there/gr;
    my $line = join('|', grep { $_ } $here, $there) || '\d+';
    for my $order (@orders) {
        my ($status, undef, $err) = run($order, $name);
        ok($status eq 1 && $err =~ /\A\Q$source\E:(?:$line): error: kernel $name\b[^\n]*\.\n\z/ && $err =~ /$like/, "$name: told, order $order") or diag("status $status: $err");
    }
}

# ---- launches ----

my $launch = "$source:" . marked_line($source, 'HERE launch') . ': error: kernel plain: launched with ';
my %refused = (
    in_part   => 'grid (5,1,1) and clusters of (2,1,1) blocks. Let the grid have whole clusters.',
    none      => 'grid (4,1,1) and clusters of (2,0,1) blocks. Let the grid have whole clusters.',
    nine      => 'clusters of 9 blocks, more than 8. Take fewer, or set cudaFuncAttributeNonPortableClusterSizeAllowed with cudaFuncSetAttribute.',
    seventeen => 'clusters of 17 blocks, more than 16. Take fewer.',
);
is_deeply([run('warp', $_)], [1, '', "$launch$refused{$_}\n"], "$_: refused") for sort keys %refused;
done_testing;

# Runs a kernel in an order; returns status, standard output and standard error.
sub run {
    my ($order, @arguments) = @_;
    return run_program({ CUSIM_SCHEDULE => $order }, 'build/tests/clusters', @arguments);
}

# The line with a mark, 0: there is none.
sub line_of {
    my ($mark) = @_;
    return read_file($source) =~ m{/\* \Q$mark\E \*/} ? marked_line($source, $mark) : 0;
}
