#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# warp.pl CHAPTER [TERM] - draws results/CHAPTER_warp.svg: which bytes the lanes of one warp want at once. From the repository's root.
#
# For each variant, forward, of the longest traced shape: a load of global memory, and the next one of the same line; a store where only
# the TMA loads. TERM=dumb draws in the terminal. Without gnuplot this is a sentence, not an error.
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
    print "the picture of ${chapter}'s requests skipped: gnuplot is not installed (make setup installs it)\n";
    exit 0;
}

my $csv = "results/${chapter}_warp.csv";
my $table = read_table($csv);
my @rows = grep { $_->{kind} =~ /^(?:load|store)$/ } rows_with($table, direction => 'forward');
my @sizes = reverse sizes($table); # the last one first: the length of a sequence
sub shape { my ($row) = @_; return join ' ', map { sprintf '%20d', $row->{$_} } @sizes }
my ($longest) = reverse sort map { shape($_) } @rows;
my (@variants, %of); # variant, kind, line, request => its lanes
for my $row (grep { shape($_) eq $longest } @rows) {
    push @variants, $row->{variant} if !$of{ $row->{variant} };
    push @{ $of{ $row->{variant} }{ $row->{kind} }{ $row->{line} }{ $row->{request} } }, $row;
}
if (!@variants) {
    print "$csv holds no requests of a forward pass\n";
    exit 0;
}

# The sectors that the lanes of a request touch.
sub sectors {
    my %touched = map { int($_->{offset} / 32) => 1, int(($_->{offset} + $_->{bytes} - 1) / 32) => 1 } @_;
    return scalar keys %touched;
}

# for each variant one or two blocks of "lane sector", the sector counted from the variant's first one
my (@data, @of, @what, @touched, @lanes, @last);
for my $variant (@variants) {
    my $kind = $of{$variant}{load} ? 'load' : 'store';
    my $lines = $of{$variant}{$kind};
    my ($line) = sort { keys %{ $lines->{$b} } <=> keys %{ $lines->{$a} } || $a cmp $b } keys %$lines; # what runs most often
    my ($one, @later) = map { $lines->{$line}{$_} } sort { $a <=> $b } keys %{ $lines->{$line} };
    my ($next) = grep { $_->[0]{offset} != $one->[0]{offset} || $_->[0]{lane} != $one->[0]{lane} } @later;
    my $first = int($one->[0]{offset} / 32);
    for my $request (grep { defined } $one, $next) {
        push @data, "# $variant\n", (map { sprintf "%d %.4f\n", $_->{lane}, $_->{offset} / 32 - $first } @$request), "\n\n";
        push @of, $variant;
        push @what, $kind;
        push @touched, sectors(@$request);
        push @lanes, scalar @$request;
        push @last, int($request->[-1]{offset} / 32) - $first;
    }
}
my $data = "build/plots/${chapter}_warp.dat";
my $out = "results/${chapter}_warp.svg";
write_file($data, @data);
gnuplot('common/plot/warp.gp', $out, term => $term, data => $data, chapter => $chapter, variants => "@variants", of => "@of",
    what => "@what", touched => "@touched", lanes => "@lanes", last => "@last");
