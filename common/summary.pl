#!/usr/bin/perl
# summary.pl TABLE.txt DIRECTION - what `make run` shows of a program's output: where it ran, one line for each variant that ran in DIRECTION,
# and what was checked. The line is the one with the most sequences, and of these with the longest up to 16384 elements.
use strict;
use warnings;

my ($path, $direction) = @ARGV;
die "usage: $0 TABLE.txt DIRECTION\n" if @ARGV != 2;
open my $file, '<', $path or die "$path: $!\n";
my (@names, @before, @rows, @after);
while (my $line = <$file>) {
    my @cells = split ' ', $line =~ s/% /%/gr; # "% copy" is one column
    if (!@names && $line =~ /^(?:chapter +)?variant +direction /) {
        @names = @cells;
        push @before, $line;
    } elsif (!@names) {
        push @before, $line;
    } elsif (@cells == @names && !@after) {
        my %row = (line => $line);
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
    my $better = !$best{$variant} || $row->{num_seqs} > $best{$variant}{num_seqs}
        || ($row->{num_seqs} == $best{$variant}{num_seqs} && $row->{seq_len} <= 16384 && $row->{seq_len} > $best{$variant}{seq_len});
    $best{$variant} = $row if $better;
}
pop @before if !@variants;    # no head without rows
print grep { /\S/ } @before;
print $best{$_}{line} for @variants;
print grep { /^(?:all \d+ checks passed|nothing was checked|\d+ FAILED)$/ } @after;
