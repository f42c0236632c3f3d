#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# merge.pl TARGET.csv CSV... - one table of several runs: all their commands, the first one's date and toolkit, and each row once; what was
# measured twice, such as a baseline, is taken from the first.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../pages";
use Tables;

my ($target, @paths) = @ARGV;
die "usage: $0 TARGET.csv CSV...\n" if !@paths;
my @tables = map { read_table($_) } @paths;
my $first = $tables[0];
my @comments = ((map { grep { /^# command: / } @{ $_->{comments} } } @tables), grep { !/^# command: / } @{ $first->{comments} });
my %seen;
my @rows = grep { !$seen{ join ',', @$_{ measured($first) } }++ } map { @{ $_->{rows} } } @tables;
write_table($target, \@comments, $first->{columns}, @rows);
