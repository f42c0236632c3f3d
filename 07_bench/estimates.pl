#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# estimates.pl - draws results/07_estimates.csv, which `make -C 07_bench estimates` writes, into figures/estimates.svg: each time that was
# recorded, and its estimate over it. Run from the repository's root; it needs gnuplot.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages", "$FindBin::Bin/../common/plot";
use Plots;
use Tables;

my $table = read_table('results/07_estimates.csv');
my @rows = grep { $_->{direction} !~ /reverse/ } @{ $table->{rows} }; # reversed, they are the same over again
my %points;
push @{ $points{ $_->{num_seqs} } }, sprintf '%.3f %.3f', 1e3 * $_->{recorded_ms}, 1e3 * $_->{estimated_ms} for @rows;
my @numbers = sort { $a <=> $b } keys %points;
my @colours = ('#0072b2', '#b07c00', '#009e73', '#d55e00');
open my $plot, '|-', 'gnuplot' or die "gnuplot: $!\n";
print $plot <<'END';
set terminal svg size 640,600 background '#ffffff' font 'sans-serif,13'
set output '07_bench/figures/estimates.svg'
set xlabel 'recorded on an H200 (µs)'
set ylabel 'estimated (µs)'
set logscale xy
set xrange [3:30000]
set yrange [3:30000]
set grid lc rgb '#c8ced5'
set border 3
set tics nomirror
set key left top reverse Left
END
print $plot '$points', $_, " << E\n", join("\n", @{ $points{ $numbers[$_] } }), "\nE\n" for 0 .. $#numbers;
print $plot 'plot x with lines lc rgb "#1f2328" title "equal", 1.2 * x with lines dt 2 lc rgb "#59636e" title "20 % apart", x / 1.2 with lines dt 2 lc rgb "#59636e" notitle';
print $plot ", \$points$_ with points pt 7 ps 0.25 lc rgb '$colours[$_ % 4]' title '$numbers[$_] sequence", $numbers[$_] == 1 ? '' : 's', "'" for 0 .. $#numbers;
print $plot "\n";
close $plot or die "gnuplot failed\n";
for_dark_screens('07_bench/figures/estimates.svg');
