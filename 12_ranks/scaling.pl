#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# scaling.pl [PROGRAM] - times 1, 2 and 4 ranks on this machine, from the repository's root: weak scaling, 16384
# elements a rank, and strong scaling, 65536 in all; two sequences. Prints CSV. On the simulator that is the time of
# the simulator, on the cores that there are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages";
use POSIX 'strftime';
use Tables;

my $program = shift // 'build/sim/12_ranks';
my $csv = 'build/12_scaling.csv';
my @columns = qw(variant ranks seq_len wall_ms wall_p20_ms wall_p80_ms);
my ($cores) = `nproc` =~ /(\d+)/;
print "# $program, $cores cores, ", strftime('%Y-%m-%d', localtime), "\n", join(',', 'scaling', @columns), "\n";
$| = 1;
for my $ranks (1, 2, 4) {
    for (['weak', 16384 * $ranks], ['strong', 65536]) {
        my ($scaling, $length) = @$_;
        for my $variant (qw(alone exscan forget)) {
            my @command = ('mpirun', '-n', $ranks, $program, '--forward', '--variant', $variant,
                '--num-seqs', 2, '--seq-len', $length, '--repeats', 9, '--csv', $csv);
            system("@command > /dev/null") == 0 or die "@command: failed\n";
            my ($row) = @{ read_table($csv)->{rows} };
            print join(',', $scaling, map { $row->{$_} } @columns), "\n";
        }
    }
}
