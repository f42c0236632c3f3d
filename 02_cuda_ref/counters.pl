#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# counters.pl [FILE.csv] VARIANT... - the counts of `make profile` for these kernels of chapter 02, a row for each counter: of a table in
# results/, or of the newest recording. Requests, sectors and instructions are in millions. From the repository's root.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages";
use Tables;

my @counters = ( # what it is, metric, format, what it is divided by
    ['load requests', 'load_requests', '%.1f', 1e6],
    ['sectors they ask L1 for', 'load_sectors', '%.1f', 1e6],
    ['sectors read from L2', 'l2_read_sectors', '%.1f', 1e6],
    ['sectors stored, as L1 sends them', 'store_sectors', '%.1f', 1e6],
    ['sectors written to L2', 'l2_write_sectors', '%.1f', 1e6],
    ['GB read from DRAM', 'dram_read_bytes', '%.2f', 1e9],
    ['GB written to DRAM', 'dram_write_bytes', '%.2f', 1e9],
    ['L2 is busy, %', 'l2_busy_percent', '%.0f', 1],
    ['DRAM is busy, %', 'dram_busy_percent', '%.0f', 1],
    ['instructions of a warp', 'instructions', '%.1f', 1e6],
);

my $path = @ARGV && $ARGV[0] =~ /\.csv$/ ? shift : newest('02_counters', device_of_texts()) // die "no 02_counters is recorded; make profile\n";
my %wanted = map { $_ => 1 } @ARGV or die "usage: $0 [FILE.csv] VARIANT...\n";
my %of;
for my $row (grep { $_->{direction} eq 'forward' && $wanted{ $_->{variant} } } @{ read_table($path)->{rows} }) {
    $of{ $row->{variant} }{ $row->{metric} } = $row->{value};
}
printf '%-32s' . ' %13s' x @ARGV . "\n", 'forward; counts in millions', @ARGV;
for my $counter (@counters) {
    my ($what, $metric, $format, $by) = @$counter;
    printf '%-32s' . ' %13s' x @ARGV . "\n", $what, map { my $value = $of{$_}{$metric}; defined $value ? sprintf $format, $value / $by : '-' } @ARGV;
}
