#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# said.pl - the compiler's messages on rewritten code, in words that fit the code as it was written.
#
#   perl said.pl FILE       FILE: the compiler's messages, in the C locale
use strict;
use warnings;

my @all = <>;
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
