#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# meant.pl TYPED MAKEFILE... - one sentence about a target that there is not: which one was meant (common/build/config.mk).
use strict;
use warnings;
use List::Util qw(min);

my ($typed, @makefiles) = @ARGV;
die "usage: $0 TYPED MAKEFILE...\n" if !defined $typed;

# How many letters two words differ by: put in, left out, another one, or two of them swapped.
sub distance {
    my @letters = map { [split //] } @_;
    my @cost = map { [$_] } 0 .. @{ $letters[0] };
    $cost[0] = [0 .. @{ $letters[1] }];
    for my $i (1 .. @{ $letters[0] }) {
        for my $j (1 .. @{ $letters[1] }) {
            my $same = $letters[0][$i - 1] eq $letters[1][$j - 1];
            $cost[$i][$j] = min($cost[$i - 1][$j] + 1, $cost[$i][$j - 1] + 1, $cost[$i - 1][$j - 1] + !$same);
            $cost[$i][$j] = min($cost[$i][$j], $cost[$i - 2][$j - 2] + 1)
                if $i > 1 && $j > 1 && $letters[0][$i - 1] eq $letters[1][$j - 2] && $letters[0][$i - 2] eq $letters[1][$j - 1];
        }
    }
    return $cost[-1][-1];
}

# Targets that are no files, as the makefiles name them.
my %targets;
for (@makefiles) {
    open my $file, '<', $_ or next;
    while (my $line = <$file>) {
        $targets{$_} = 1 for $line =~ /^\.PHONY:(.*)/ ? grep { /^[a-z][\w-]*$/ } split ' ', $1 : ();
    }
}
my ($meant) = sort { distance($typed, $a) <=> distance($typed, $b) || $a cmp $b } keys %targets;
my $near = defined $meant && distance($typed, $meant) <= (length $typed < 5 ? 1 : 2);
print "there is no target `$typed'; ", $typed =~ /^\d\d\.\d+$/ ? "an exercise is named by EX=$typed"
    : $near ? "perhaps `make $meant' was meant" : "`make help' in the repository's root lists them";
