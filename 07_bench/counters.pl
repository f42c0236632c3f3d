#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# counters.pl [FILE.csv] [CHAPTER/VARIANT...] - the counts of `make profile`, a row for each kernel: of a table in results/, or of the newest
# recording. From the repository's root.
#
# B/elem, L2/elem, fabric/elem: DRAM bytes, sectors that L2 handles, and of these those between its halves, for each element. sect/load and
# sect/store: sectors of a warp's request. instr, shuffles: millions of instructions of a warp. L2 %, DRAM %: of the time that they are busy.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages";
use Tables;

my $path = @ARGV && $ARGV[0] =~ /\.csv$/ ? shift : newest('07_counters', device_of_texts()) // die "no 07_counters is recorded; make profile\n";
my %wanted = map { $_ => 1 } @ARGV;
my (@kernels, %of);
for my $row (@{ read_table($path)->{rows} }) {
    my $name = "$row->{chapter}/$row->{variant}";
    next if %wanted && !$wanted{$name};
    my $kernel = join ' ', $name, @$row{qw(direction num_seqs seq_len)};
    push @kernels, $kernel if !$of{$kernel};
    $of{$kernel}{elements} = $row->{num_seqs} * $row->{seq_len};
    $of{$kernel}{ $row->{metric} } = $row->{value};
}
@kernels or die "$path: none of these kernels is in it\n";

my @columns = ( # name, metric, format, what it is divided by
    ['B/elem', 'bytes_per_element', '%.1f', 1], ['L2/elem', 'l2_sectors', '%.2f'], ['fabric/elem', 'l2_fabric_sectors', '%.2f'],
    ['sect/load', 'sectors_per_load', '%.1f', 1], ['sect/store', 'sectors_per_store', '%.1f', 1],
    ['instr', 'instructions', '%.0f', 1e6], ['shuffles', 'shuffles', '%.0f', 1e6], ['L2 %', 'l2_busy_percent', '%.0f', 1], ['DRAM %', 'dram_busy_percent', '%.0f', 1]);
printf "%-26s %-8s" . ' %9s' x 2 . ' %11s' . ' %10s' x 2 . ' %6s %8s %5s %6s' . "\n", 'kernel', 'pass', map { $_->[0] } @columns;
for my $kernel (@kernels) {
    my ($name, $direction) = split ' ', $kernel;
    my $value = $of{$kernel};
    printf "%-26s %-8s" . ' %9s' x 2 . ' %11s' . ' %10s' x 2 . ' %6s %8s %5s %6s' . "\n", $name, $direction,
        map { my ($head, $metric, $format, $by) = @$_; defined $value->{$metric} ? sprintf $format, $value->{$metric} / ($by // $value->{elements}) : '-' } @columns;
}
