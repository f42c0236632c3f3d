#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# counters.pl - counts with ncu what chapter 10's kernels move and how full the chip is, at the proposal's shape: a batch of 4, 64 chunks, 16 heads,
# states of 64 x 64, float32, forward. From the repository's root, into results/10_counters.csv. NCU=/path/to/ncu.
#
# Each kernel runs once, on arrays of its own (--h-local and so on), so that ncu sees its launches and nothing else.
use strict;
use warnings;
use FindBin;
use lib map { "$FindBin::Bin/../common/$_" } qw(pages record);
use Ncu;
use Tables;

my $ncu = ncu_path();
if (($ENV{BACKEND} // 'sim') ne 'cuda' || !defined $ncu) {
    print "counters.pl needs a GPU, nvcc and ncu (BACKEND=cuda; Nsight Compute comes with the CUDA Toolkit)\n";
    exit 2;
}

# ncu's name, our name, the factor
my @metrics = (
    ['gpu__time_duration.sum', 'ns', 1],
    ['dram__bytes_read.sum', 'dram_read_bytes', 1],
    ['dram__bytes_write.sum', 'dram_write_bytes', 1],
    ['lts__t_sectors_op_read.sum', 'l2_read_sectors', 1],
    ['lts__t_sectors_op_write.sum', 'l2_write_sectors', 1],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum', 'load_sectors', 1],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum', 'store_sectors', 1],
    ['sm__warps_active.avg.pct_of_peak_sustained_active', 'occupancy_percent', 1],
    ['dram__throughput.avg.pct_of_peak_sustained_elapsed', 'dram_busy_percent', 1],
);
my @variants = qw(launches registers prefetch tma);
my $program = 'build/cuda/10_chunk_state';
my @run = split ' ', $ENV{RUN} // ''; # what starts programs that want a GPU
my %sizes = (batch => 4, chunks => 64, heads => 16, dk => 64, dv => 64, rank => 0, decays => 64);
my @sizes = qw(batch chunks heads dk dv rank decays);
my ($x, $g, $h) = map { "build/10_counters_$_.npy" } qw(x g h);
my @shape = map { ("--$_", $sizes{$_}) } @sizes;
system(@run, $program, '--fill', 'ramp', @shape, '--h-local', $x) == 0 && system(@run, $program, '--fill', '0.5', @shape, '--gamma', $g) == 0
    or die "counters.pl: $program could not write its arrays\n";

my @rows;
for my $variant (@variants) {
    my @lines = do {
        open my $from, '-|', @run, $ncu, ncu_options(@metrics), $program, '--variant', $variant, '--h-local', $x, '--gamma', $g, '--h-out', $h or die "ncu: $!\n";
        <$from>;
    };
    my %total = ncu_totals(\@metrics, 'counters.pl', $variant, @lines);
    $total{bytes_per_step} = (($total{dram_read_bytes} // 0) + ($total{dram_write_bytes} // 0)) / ($sizes{batch} * $sizes{chunks} * $sizes{heads});
    my %row = (%sizes, chapter => '10_chunk_state', variant => $variant, direction => 'forward', type => 'float32');
    push @rows, map { { %row, metric => $_, value => sprintf '%.6g', $total{$_} } } sort keys %total;
    printf "%-10s %9.0f bytes of DRAM a step, occupancy %.0f %%\n", $variant, @total{qw(bytes_per_step occupancy_percent)};
}
unlink $x, $g, $h;

my ($name, $driver) = map { s/\s+$//r } split /, /, `@run nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null`;
my ($nvcc) = `\${NVCC:-nvcc} --version 2>/dev/null` =~ /release ([\d.]+)/;
my ($date) = map { s/\s+$//r } `date -u +%Y-%m-%dT%H:%M:%SZ`;
$_->{device} = $name // 'unknown' for @rows;
write_table('results/10_counters.csv', ['# command: perl 10_chunk_state/counters.pl', "# date: $date", '# toolkit: CUDA ' . ($nvcc // '?'),
    '# driver: ' . ($driver // '?')], [qw(chapter variant direction), @sizes, qw(type device metric value)], @rows);
