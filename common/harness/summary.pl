#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# summary.pl TABLE.txt DIRECTION - the part of a program's output that `make run` shows: where it ran, one line for each variant that ran in DIRECTION,
# and what was checked. The line is the one with the largest sizes, the first of them first: for the recurrence the most sequences, and of
# these the longest up to 16384 elements.
use strict;
use warnings;
use lib 'common/base';
use Terminal;

my ($path, $direction) = @ARGV;
die "usage: $0 TABLE.txt DIRECTION\n" if @ARGV != 2;
open my $file, '<', $path or die "$path: $!\n";
my (@names, @before, @rows, @after);
while (my $line = <$file>) {
    next if $line =~ /^(?:skipped: |arrays kept in |measured with )/;
    my @cells = split ' ', $line =~ s/% /%/gr; # "% copy" is one column
    if (!@names && $line =~ /^(?:chapter +)?variant +direction /) {
        @names = @cells;
        push @before, $line;
    } elsif (!@names) {
        push @before, $line;
    } elsif (@cells == @names && !@after) {
        my %row = (line => $line, cells => \@cells);
        @row{@names} = @cells;
        push @rows, \%row;
    } else {
        push @after, $line;
    }
}
close $file;

my (%best, @variants);
for my $row (grep { $_->{direction} eq $direction } @rows) {
    my $variant = join '/', $row->{chapter} // '', $row->{variant};
    push @variants, $variant if !$best{$variant};
    $best{$variant} = $row if !$best{$variant} || is_better($row, $best{$variant});
}
my $head = pop @before;
my @table = map { $best{$_} } @variants;
my $columns = terminal_columns(1000);
print grep { /\S/ } @before;
print @table == 0 ? () # no head without rows
    : length($head) - 1 <= $columns ? ($head, map { $_->{line} } @table)
    : map { s/%(?=[a-z])/% /gr } narrow_table($columns, scalar(grep { /^(?:chapter|variant|direction)$/ } @names), \@names, map { $_->{cells} } @table);
print map { verdict($_, !/FAILED/) . "\n" } map { /^(all \d+ checks passed|\d+ FAILED)$/ } @after;
print grep { /^nothing was checked$/ } @after;

# The operation's sizes stand between the direction and what was measured. The first that differs decides.
sub is_better {
    my ($row, $other) = @_;
    my ($text) = "@names" =~ /\bdirection (.*?) ?\b(?:ms|blocks)\b/;
    for my $size (split ' ', $text) {
        next if $row->{$size} == $other->{$size};
        return $row->{$size} > $other->{$size} && ($size ne 'seq_len' || $row->{$size} <= 16384);
    }
    return 0;
}
