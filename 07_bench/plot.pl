#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# plot.pl [TERM | --recorded] - draws chapter 07's plots, from the repository's root.
#
# From results/07_bench.csv or results/07_quick.csv, if they hold times, else from the newest recordings, into results/. gnuplot draws the
# ladder over the length (TERM=dumb: in the terminal), matplotlib the rest (figures.py). --recorded: from the recordings alone, into
# 07_bench/figures/, where the texts show them. Without the one or the other this is a sentence, not an error.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages";
use Tables;

my $term = shift // 'svg';
die "usage: $0 [TERM | --recorded]\n" if @ARGV;
my $recorded = $term eq '--recorded';
$| = 1;

# the steps of the ladder over the length, as "chapter/variant"
my @ladder = qw(07_bench/copy 07_bench/add 02_cuda_ref/full_blocks 03_tile/shared 04_warp_scan/to_block 07_bench/cub_by_key
    07_bench/cub_block_scan 05_pipe/default 06_backward/default);

sub timed { # the rows of tables of the programs that have times
    return grep { ($_->{backend} // '') ne '' && ($_->{median_ms} // '') ne '' } map { @{ read_table($_)->{rows} } } @_;
}

# a table that compares all, or the chapters' own; and the profiler's and the tuner's
my @tables;
if (!$recorded) {
    @tables = (grep { -f && timed($_) } map { "results/07_$_.csv" } qw(bench quick))[0] // ();
    push @tables, grep { -f } map { "results/07_$_.csv" } qw(counters tune) if @tables;
}
if (!@tables) {
    my $device = $recorded ? device_of_texts() : undef;
    my $newest = sub { return grep { defined } map { newest($_, $device) } @_ };
    my @chapters = map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile';
    @tables = $newest->('07_bench');
    @tables = $newest->(@chapters) if !@tables;
    push @tables, $newest->('07_counters'), $newest->('07_tune');
    print "no table of chapter 07 in results/ holds times; plotting recorded ones\n" if !$recorded;
}

# the ladder for gnuplot: the most sequences, one name for chapter and variant
sub ladder {
    my ($bench) = grep { my $table = $_; grep { $_ eq 'percent_of_add' } @{ $table->{columns} } } map { read_table($_) } @tables or return;
    my @rows = grep { $_->{direction} eq 'forward' } timed(@tables);
    my ($most) = sort { $b <=> $a } map { $_->{num_seqs} } @rows;
    my (%seen, @kept);
    for my $step (@ladder) {
        my ($chapter, $variant) = split m{/}, $step;
        for my $row (grep { "$_->{chapter}/$_->{variant}" eq $step && $_->{num_seqs} == $most && !$seen{"$step $_->{seq_len}"}++ } @rows) {
            my $name = $chapter eq '07_bench' ? $variant : substr($chapter, 0, 2) . "_$variant";
            push @kept, { %$row, variant => $name };
        }
    }
    mkdir 'results';
    write_table('results/07_ladder.csv', $bench->{comments}, $bench->{columns}, @kept);
    return system('perl', 'common/plot/plot.pl', '07_ladder', $term) == 0 || exit 1;
}
ladder() if !$recorded && @tables;
exit 0 if $term ne 'svg' && !$recorded; # the rest is for no terminal

my ($python) = grep { system("command -v $_ > /dev/null && $_ -c 'import matplotlib' 2> /dev/null") == 0 } 'python3', '/usr/bin/python3';
if (!defined $python) {
    print "figures of 07_bench skipped (ladder, throughput, backward, roofline, sequences, tuning): no python3 with matplotlib is installed "
        . "(make setup installs it)\n";
    exit 0;
}
my @out = $recorded ? ('--svg', '07_bench/figures') : 'results/figures';
exec $python, '-B', '07_bench/figures.py', @out, @tables or die "$python: $!\n";
