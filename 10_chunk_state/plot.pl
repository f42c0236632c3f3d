#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# plot.pl [TERM] - draws chapter 10's plots from the repository's root: GB/s over the number of chunks, over the number of heads, and both types
# over the number of chunks, forward, states of 64 x 64.
#
# From results/10_chunk_state.csv, or where that holds no times (the simulator's does not) from the newest recording. TERM=dumb draws in the
# terminal. Without gnuplot this is a sentence, not an error.
use strict;
use warnings;
use FindBin;
use lib map { "$FindBin::Bin/../common/$_" } qw(pages plot);
use Plots;
use Tables;

my $term = shift // 'svg';
die "usage: $0 [TERM]\n" if @ARGV;
$| = 1;
if (!has_gnuplot()) {
    print "plots of 10_chunk_state skipped: gnuplot is not installed (make setup installs it)\n";
    exit 0;
}
mkdir 'results';

my ($csv, $table) = ('results/10_chunk_state.csv');
sub timed { return grep { ($_->{gb_per_s} // '') ne '' && $_->{gb_per_s} > 0 } rows_with($table, direction => 'forward', rank => 0, with => 'W', @_) }

$table = read_table($csv) if -f $csv;
if (!$table || !timed()) {
    my $recorded = newest('10_chunk_state');
    print "$csv holds no times; plotting the recorded $recorded\n" if defined $recorded;
    $table = defined $recorded ? read_table($recorded) : undef;
}
exit 0 if !$table;

# GB/s over a size, a line for each [name, rows that have these values].
sub draw {
    my ($name, $heading, $across, @lines) = @_;
    my (@names, @blocks, $device);
    for (@lines) {
        my ($line, %keys) = @$_;
        my %seen;
        my @points = sort { $a->{$across} <=> $b->{$across} } grep { !$seen{ $_->{$across} }++ } timed(dk => 64, dv => 64, decays => 64, %keys) or next;
        $device = $points[0]{device};
        push @names, $line;
        push @blocks, "# $line\n", (map { "$_->{$across} $_->{gb_per_s}\n" } @points), "\n\n";
    }
    return if !@names;
    my $data = "build/plots/10_$name.dat";
    write_file($data, @blocks);
    gnuplot('common/plot/throughput.gp', "results/10_$name.svg", term => $term, data => $data, variants => "@names", looks(@names), across => $across,
        heading => "10_chunk_state, forward, $heading, $device");
}

my @variants = qw(copy launches registers prefetch tma split);
# copy is the harness's baseline
sub variant { return (variant => $_[0], chapter => $_[0] eq 'copy' ? '07_bench' : '10_chunk_state') }
my %proposal = (batch => 4, heads => 16);
draw('chunks', 'batch 4, 16 heads, float32', 'chunks', map { [$_, %proposal, variant($_), type => 'float32'] } @variants);
draw('heads', 'batch 1, 512 chunks, float32', 'heads', map { [$_, batch => 1, chunks => 512, variant($_), type => 'float32'] } @variants);
draw('types', 'batch 4, 16 heads', 'chunks', map { my $type = $_; map { ["$_:$type", %proposal, variant($_), type => $type] } qw(copy registers tma) }
    qw(float32 bf16));
