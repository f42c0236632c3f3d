#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# trace.pl FILE.csv [LINES] - prints what the simulator has counted (CUSIM_TRACE=FILE.csv) as a table of 100 columns: a row for each kernel; with LINES,
# the name of a variant or "all", also one for each of its lines that access memory.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(max min);
use Tables;

my ($path, $lines) = @ARGV;
die "usage: $0 FILE.csv [VARIANT|all]\n" if !defined $path || @ARGV > 2;
my $table = read_table($path);
my @rows = @{ $table->{rows} };
die "$path: nothing was traced\n" if !@rows;
die "$path is not a trace; CUSIM_TRACE=FILE.csv writes one\n" if !grep { $_ eq 'load_sectors' } @{ $table->{columns} };
die "no variant \"$lines\" was traced; LINES takes one of the table's names, or all\n"
    if defined $lines && $lines ne 'all' && !grep { $_->{variant} eq $lines } @rows;
my %chapters = map { $_->{chapter} => 1 } @rows; # a chapter may trace the kernels of several
my @sizes = sizes($table);
my $atomics = grep { $_->{atomics} } @rows;      # few kernels have any

# A quotient, or a dash where there is nothing to divide by.
sub per { my ($format, $a, $b) = @_; return $b ? sprintf $format, $a / $b : '-' }

# Sectors a request, beside the fewest that could carry its bytes.
sub requests {
    my ($row, $what) = @_;
    my $count = $row->{"${what}_requests"};
    return map { per('%.1f', $row->{"${what}_$_"}, $count) } 'sectors', 'least';
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
    return $text;
}

# On a terminal that is narrower than the table, names have less room.
my ($columns) = -t STDOUT ? `stty size < /dev/tty 2> /dev/null` =~ /^\d+ (\d+)$/ : ();
my $most = min(100, $columns // 100);
my $room = min(14, max(2, 14 - (84 + ($atomics ? 8 : 0) - $most)));

# One row: a name, which stands on a line of its own if it is long, and its figures below the head.
sub print_row {
    my ($name, @figures) = @_;
    print length $name > $most ? substr($name, 0, $most - 3) . '...' : $name, "\n" if length $name > $room;
    printf '%-*s %7s %5s %7s %5s %6s %6s %9s', $room, length $name > $room ? '' : $name, @figures[0 .. 6];
    printf ' %8s %8s', @figures[7, 8] if @figures > 7;
    printf ' %7s', $figures[9] if @figures > 7 && $atomics;
    print "\n";
}

# What kernels and lines have in common.
sub figures {
    my ($row) = @_;
    my $elements = $row->{load_requests} + $row->{store_requests} ? ($row->{num_seqs} || 0) * ($row->{seq_len} || 0) : 0;
    return (requests($row, 'load'), requests($row, 'store'),
        per('%.2f', 32 * ($row->{load_sectors} + $row->{store_sectors}), $elements),
        per('%.2f', 32 * ($row->{load_once} + $row->{store_once}), $elements), $row->{conflicts});
}

print ' ' x ($room - 14 + 16), "sectors/load sectors/store bytes/element      bank   in the launch\n";
printf "%-*.*s touched ideal touched ideal  moved needed conflicts barriers shuffles%s\n", $room, $room, 'variant', $atomics ? ' atomics' : '';
my ($shape, $variant) = (undef, '');
for my $row (@rows) {
    if ($row->{line} eq '') {
        my $is = join ', ', (grep { $_ ne '' } keys %chapters > 1 ? $row->{chapter} : '', $row->{direction}),
            ($row->{num_seqs} // '') ne '' ? "$row->{num_seqs} sequences of $row->{seq_len} elements" : map { "$_ $row->{$_}" } grep { $row->{$_} ne '' } @sizes;
        print "\n", $is eq '' ? '' : "$is\n" if !defined $shape || $is ne $shape;
        my $more = defined $shape && $is eq $shape && $row->{variant} eq $variant && $variant ne ''; # more kernels of a variant
        print_row($more || $row->{variant} eq '' ? ($more ? '+ ' : '') . $row->{kernel} : $row->{variant}, figures($row),
            @$row{qw(barriers shuffles atomics)});
        ($shape, $variant) = ($is, $row->{variant});
    } elsif (defined $lines && ($lines eq 'all' || $lines eq $row->{variant})) {
        my ($requests, $lanes) = map { $row->{"load_$_"} + $row->{"store_$_"} + $row->{"shared_$_"} } qw(requests lanes);
        my @is = ($row->{shared_requests} ? "$row->{shared_requests} shared requests" : (), $lanes < 31.95 * $requests ? per('%.1f lanes', $lanes, $requests) : (),
            $row->{contention} ? "contention $row->{contention}" : ());
        print_row("  $row->{line}" . (@is ? ' [' . join(', ', @is) . ']' : '') . ': ' . source_line($row->{line}), figures($row));
    }
}
