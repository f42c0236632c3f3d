# SPDX-License-Identifier: MIT
# Ncu.pm - counts of ncu, the profiler, by names of ours.
package Ncu;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(ncu_path ncu_options ncu_totals);

$ENV{LC_ALL} = 'C'; # ncu's numbers

# Where it is; undef: nowhere.
sub ncu_path { return (grep { -f && -x } ($ENV{NCU} // ()), (map { "$_/ncu" } split /:/, $ENV{PATH}), glob '/usr/local/cuda/bin/ncu')[0] }

# What it is asked for: metrics are [ncu's name, ours, a factor], and the first one is the time.
sub ncu_options { return (qw(--clock-control none --csv --page raw --print-units base --print-fp --metrics), join ',', map { $_->[0] } @_) }

# The metrics of one launch, by our names, from the lines that ncu has said. What several kernels of it have is added up, but percentages
# and rates are averaged over time. Dies with a sentence that begins with `who' where nothing was counted for `what'.
sub ncu_totals {
    my ($metrics, $who, $what, @lines) = @_;
    my ($time, $scale) = @{ $metrics->[0] }[1, 2];
    my (@head, %total);
    for (grep { /^"/ } @lines) {
        my @fields = /"([^"]*)"/g;
        if ($fields[0] eq 'ID') { @head = @fields; next }
        next if $fields[0] !~ /^\d+$/; # the line of units
        my %value;
        @value{@head} = map { tr/,//dr } @fields;
        my $took = ($value{ $metrics->[0][0] } // 0) * $scale;
        for (@$metrics) {
            my ($from, $to, $factor) = @$_;
            my $value = $value{$from} // '';
            $total{$to} += $value * $factor * ($to =~ /percent|per_second/ ? $took : 1) if $value =~ /^[\d.e+-]+$/; # ncu may say n/a
        }
    }
    if (!$total{$time}) {
        my ($why) = grep { /==(ERROR|WARNING)==/ } @lines;
        chomp($why //= $lines[-1] // 'it said nothing');
        die "$who: ncu counted nothing for $what: $why\n";
    }
    $total{$_} /= $total{$time} for grep { /percent|per_second/ } keys %total;
    return %total;
}

1;
