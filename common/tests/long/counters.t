# SPDX-License-Identifier: MIT
# The sectors that the simulator counts are those that ncu counted on a GPU; and in rows of many tiles the defaults touch each once.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'only the simulator sees every access; this is BACKEND=' . backend() if backend() ne 'sim';

# ---- what a GPU counts: sectors that requests touch, for each element, as ncu saw them (make profile) on an H200 ----

my %gpu;
for my $row (grep { $_->{metric} =~ /_sectors$/ } @{ read_table(newest('07_counters', device_of_texts()))->{rows} }) {
    $gpu{"$row->{chapter} $row->{variant} $row->{direction}"}{ $row->{metric} } = $row->{value} / $row->{num_seqs} / $row->{seq_len};
}
# 03 and 04 split a sequence among as many threads as there, so the same length; 02 takes a warp of sequences
for my $chapter (gpu_chapters()) {
    my ($kernels) = trace($chapter, '--num-seqs', $chapter =~ /^02/ ? 32 : 1, '--seq-len', 16384);
    my %seen; # for each element, over all launches of a variant
    for my $row (@$kernels) {
        $seen{"$chapter $row->{variant} $row->{direction}"}{"${_}_sectors"} += $row->{"${_}_sectors"} / $row->{num_seqs} / $row->{seq_len} for 'load', 'store';
    }
    for my $name (sort keys %seen) {
        my $counted = $gpu{$name} or next;
        next if $name eq '04_warp_scan to_thread forward'; # partial: nvcc leaves out a load whose value it does not need
        for my $what (qw(load store)) {
            # TMA copies pass by the L1's counters; the L2's count half as much again for everything, for `add` too
            my $bulk = $what eq 'load' && $name =~ / tma| default/;
            my $add = $gpu{'07_bench add forward'};
            my $expected = $bulk ? $counted->{l2_read_sectors} * $add->{load_sectors} / $add->{l2_read_sectors} : $counted->{"${what}_sectors"};
            my $sectors = $seen{$name}{"${what}_sectors"};
            ok(abs($sectors / $expected - 1) <= 0.02, "$name: ${what}s touch the sectors that ncu counted") or diag("$sectors, ncu $expected");
        }
    }
}

# ---- rows of many tiles: what trace.t shows of shorter ones ----

my %arrays = (forward => [2, 1], reverse => [2, 1], backward => [3, 2], backward_reverse => [3, 2]); # that a pass reads and writes
for my $chapter (grep { claims($_, 'once') } chapters()) {
    my ($kernels) = trace($chapter, '--variant', 'default', '--num-seqs', 3, '--seq-len', '512,2048,20480,20001');
    for my $row (@$kernels) {
        my $needed = int((4 * $row->{num_seqs} * $row->{seq_len} + 31) / 32); # sectors of an array
        is("$row->{load_once} $row->{store_once}", join(' ', map { $_ * $needed } @{ $arrays{ $row->{direction} } }),
            "$chapter $row->{direction}, length $row->{seq_len}: the arrays' sectors and no other");
        for my $what (qw(load store)) {
            cmp_ok($row->{"${what}_sectors"}, '<=', $row->{"${what}_once"} + $row->{"${what}_requests"},
                "... at most one sector more a request, ${what}s");
        }
    }
}

done_testing;
