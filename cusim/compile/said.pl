#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# said.pl - the compiler's messages on rewritten code, in words that fit the code as it was written.
#
#   perl said.pl FILE       FILE: the compiler's messages, in the C locale
use strict;
use warnings;

my @all = <>;

# Two types of one extern __shared__ array: each function that has one declares a function of that name (rewrite.pl).
my $one = qr/declaration (?:of )?'([^']*?) ?\*sim_one_type_of_(\w+)\(\)'|declaration (?:of )?'([^']*?)\* sim_one_type_of_(\w+)\(\)'/;
my (@twice, %told);
for my $i (0 .. $#all) {
    next unless $all[$i] =~ /^(.*?:\d+):\d+: error: ambiguating new $one/;
    my ($place, $type, $name) = ($1, $2 // $4, $3 // $5);
    my ($note) = grep { /: note: old $one/ } @all[$i + 1 .. ($i + 12 < $#all ? $i + 12 : $#all)];
    my ($there, $other) = ($note // "") =~ /^(.*?:\d+):\d+: note: old $one/ ? ($1, $2 // $4) : ("another place", "of another type");
    push @twice, "$place: error: extern __shared__ $name is an array of $type here, and of $other at $there, though all of that name are one. "
        . "Call them differently, or declare it as unsigned char in each, and make a pointer of that type to it.\n" unless $told{$place}++;
}
print(@twice), exit if @twice;

my (@sizes, %said);
for (@all) {
    next unless /^(.*: error: ).*variable length array '(?:sim_type_)?(\w+)'/;
    my ($place, $name) = ($1, $2);
    $place =~ s/:\d+: error: \z/: error: /;
    push @sizes, [$place, $name] unless $said{$name}++;
}
# What g++ says behind such an error follows from it.
if (@sizes) {
    my %shared = map { $_ => 1 } map { /\b__shared__\b.*?\b(\w+)\s*\[/g } @all;
    printf "%sthe size of the %sarray %s is not known when the program is compiled. Write a constant%s.\n", $_->[0],
        $shared{$_->[1]} ? "shared " : "", $_->[1], $shared{$_->[1]} ? ", or extern __shared__ $_->[1]\[] and its bytes at the launch" : ""
        for @sizes;
    exit;
}
print s/\bsim_(?:type|struct)_(\w+)/$1/gr for @all;
