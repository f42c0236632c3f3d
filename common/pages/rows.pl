#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# rows.pl FILE.csv [COLUMN=VALUE...] [COLUMN...] - prints these columns (all, if none is named) of the rows that have these values. FILE may also
# be the name of a recording: rows.pl NN_x variant=add seq_len=64 num_seqs median_ms
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Tables;

my ($file, @words) = @ARGV;
die "usage: $0 FILE.csv [COLUMN=VALUE...] [COLUMN...]\n" if !defined $file;
my $path = -f $file ? $file : newest($file) // die "there is no file $file, and no recording of that name in recordings/\n";
my $table = read_table($path);
my %wanted = map { /^(\w+)=(.*)$/ ? ($1 => $2) : () } @words;
my @columns = grep { !/=/ } @words;
my %known = map { $_ => 1 } @{ $table->{columns} };
if (my ($unknown) = grep { !$known{$_} } @columns, sort keys %wanted) {
    die "$path has no column $unknown; its columns: @{ $table->{columns} }\n";
}
@columns = @{ $table->{columns} } if !@columns;
my @rows = map { my $row = $_; [map { $row->{$_} } @columns] } rows_with($table, %wanted);
my @wide = map { # as its widest field
    my $i = $_;
    (sort { $b <=> $a } map { length $_->[$i] } \@columns, @rows)[0]
} 0 .. $#columns;
print map { my $row = $_; join('  ', map { sprintf '%-*s', $wide[$_], $row->[$_] } 0 .. $#columns) =~ s/ +$//r . "\n" } \@columns, @rows;
