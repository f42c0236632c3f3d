#!/usr/bin/perl
# trace.pl FILE.csv [LINES] - prints what the simulator has counted (SIM_TRACE=FILE.csv) as a table: a row for each kernel; with LINES,
# the name of a variant or "all", also one for each of its lines that access memory.
use strict;
use warnings;

my ($path, $lines) = @ARGV;
die "usage: $0 FILE.csv [VARIANT|all]\n" if !defined $path || @ARGV > 2;
open my $csv, '<', $path or die "$path: $!\n";
chomp(my $head = <$csv>);
my @columns = split /,/, $head;
my @rows = map { chomp; my %row; @row{@columns} = split /,/, $_, -1; \%row } <$csv>;
close $csv;
die "$path: nothing was traced\n" if !@rows;
die "$path is not a trace; SIM_TRACE=FILE.csv writes one\n" if !grep { $_ eq 'load_sectors' } @columns;
die "no variant \"$lines\" was traced; LINES takes one of the table's names, or all\n"
    if defined $lines && $lines ne 'all' && !grep { $_->{variant} eq $lines } @rows;
my %chapters = map { $_->{chapter} => 1 } @rows; # chapter 07 traces the kernels of all

# A quotient, or a dash where there is nothing to divide by.
sub per { my ($format, $a, $b) = @_; return $b ? sprintf $format, $a / $b : '-' }

# Sectors a request, beside the fewest that could carry its bytes.
sub requests {
    my ($row, $what) = @_;
    my $count = $row->{"${what}_requests"};
    return $count ? sprintf '%5.1f %5.1f', $row->{"${what}_sectors"} / $count, $row->{"${what}_least"} / $count : sprintf '%5s %5s', '-', '-';
}

my %source;
sub source_line {
    my ($file, $number) = $_[0] =~ /^(.*):(\d+)$/ or return '';
    if (!$source{$file}) {
        open my $in, '<', $file or return '';
        $source{$file} = [<$in>];
    }
    my $text = $source{$file}[$number - 1] // '';
    $text =~ s/^\s+|\s+$//g;
    return length $text > 70 ? substr($text, 0, 67) . '...' : $text;
}

print <<'HEAD';
                                              sectors of 32 B a request     bytes moved             per launch
                                                load        store           an element    bank con-                                  steps an
variant        direction        num_seqs seq_len  is best    is best      all   once     flicts  barriers  shuffles   atomics   element
HEAD
my $label = '';
for my $row (@rows) {
    my $elements = ($row->{num_seqs} || 0) * ($row->{seq_len} || 0);
    if ($row->{line} eq '') {
        my $own = join ',', @$row{qw(variant direction num_seqs seq_len)};
        my $variant = $row->{variant} || $row->{kernel};
        $variant = "$row->{chapter}/$variant" if keys %chapters > 1;
        my $name = sprintf '%-14s %-16s', $variant, $row->{direction};
        $name = sprintf '%-31s', "+ $row->{kernel}" if $own eq $label; # more kernels of a variant
        $label = $own if $row->{variant} ne '';
        printf "%s %8s %7s %s %s %8s %6s %10d %9d %9d %9d %9s\n", $name, @$row{qw(num_seqs seq_len)},
            requests($row, 'load'), requests($row, 'store'),
            per('%.2f', 32 * ($row->{load_sectors} + $row->{store_sectors}), $elements),
            per('%.2f', 32 * ($row->{load_once} + $row->{store_once}), $elements),
            @$row{qw(conflicts barriers shuffles atomics)}, per('%.3f', $row->{chain}, $row->{seq_len});
    } elsif (defined $lines && ($lines eq 'all' || $lines eq $row->{variant})) {
        my $shared = $row->{shared_requests} ? "   [$row->{shared_requests} shared requests]" : '';
        printf "    %-48s %s %s %8s %6s %10d   %s%s\n", $row->{line}, requests($row, 'load'), requests($row, 'store'),
            per('%.2f', 32 * ($row->{load_sectors} + $row->{store_sectors}), $elements),
            per('%.2f', 32 * ($row->{load_once} + $row->{store_once}), $elements),
            $row->{conflicts}, source_line($row->{line}), $shared;
    }
}
