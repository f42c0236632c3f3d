#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# plot.pl CHAPTER [TERM] - draws the plots of one chapter, from the repository's root.
#
# The throughput plots come from results/CHAPTER.csv, or where that holds no times (the simulator's does not) from the newest recording.
# Then every CHAPTER/plots/*.gp whose input (its first line says "# reads FILE") is there. TERM=dumb draws in the terminal. Without
# gnuplot this is a sentence, not an error.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../pages";
use Plots;
use Tables;

my ($chapter, $term) = @ARGV;
die "usage: $0 CHAPTER [TERM]\n" if !defined $chapter || @ARGV > 2;
$term //= 'svg';
$| = 1;
if (!has_gnuplot()) {
    print "plots of $chapter skipped: gnuplot is not installed (make setup installs it)\n";
    exit 0;
}
mkdir 'results';

# The rows of one direction that have a throughput over a length, as tables of sequences have. Where an operation varies other
# sizes, too, there is no such curve.
sub timed {
    my ($table, $direction) = @_;
    return grep { ($_->{gb_per_s} // '') ne '' && $_->{gb_per_s} > 0 && $_->{seq_len} && $_->{num_seqs} } rows_with($table, direction => $direction);
}

# A block of (length, GB/s) for each variant, for throughput.gp.
sub throughput {
    my ($table, $direction, $out) = @_;
    my @rows = timed($table, $direction) or return;
    my (@variants, %points);
    for my $row (@rows) {
        push @variants, $row->{variant} if !$points{ $row->{variant} };
        push @{ $points{ $row->{variant} } }, "$row->{seq_len} $row->{gb_per_s}\n";
    }
    my $data = "build/plots/${chapter}_$direction.dat";
    write_file($data, map { ("# $_\n", @{ $points{$_} }, "\n\n") } @variants);
    gnuplot('common/plot/throughput.gp', $out, term => $term, data => $data, variants => "@variants", looks(@variants),
        heading => "$chapter, $direction, $rows[0]{num_seqs} sequences, $rows[0]{device}");
}

my $csv = "results/$chapter.csv";
my $table = -f $csv ? read_table($csv) : undef;
if (!$table || !timed($table, 'forward')) {
    my $recorded = newest($chapter);
    $table = defined $recorded ? read_table($recorded) : undef;
    print "$csv holds no times; plotting the recorded $recorded\n" if $table && timed($table, 'forward');
}
if ($table) {
    throughput($table, 'forward', "results/$chapter.svg");
    throughput($table, 'backward', "results/${chapter}_backward.svg");
}

my ($number) = $chapter =~ /^([^_]*)/;
for my $script (glob "$chapter/plots/*.gp") {
    open my $file, '<', $script or die "$script: $!\n";
    my ($input) = (<$file> // '') =~ /^# reads (\S+)/ or die "$script: its first line must be \"# reads FILE\"\n";
    my ($name) = $script =~ m{([^/]+)\.gp$};
    if (-f $input) {
        gnuplot($script, "results/${number}_$name.svg", term => $term);
    } else {
        print "$script skipped: $input is not there yet (make run writes it)\n";
    }
}
