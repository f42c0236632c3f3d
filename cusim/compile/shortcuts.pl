#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# shortcuts.pl - has most accesses that are certainly legal pass without a call: reads a program's assembly (g++ -S, for x86-64), and writes it
# with a few comparisons before each call that announces a plain load or store (machine/shortcuts.h says what they compare with).
#
#     call __tsan_read4     becomes         movq  %rdi, %rax                   the address
#                                           subq  sim_shortcuts(%rip), %rax    its distance from where legal ones begin,
#                                           rorq  $2, %rax                     in words; huge if it is not aligned
#                                           cmpq  sim_shortcuts+8(%rip), %rax  so many are legal
#                                           jb    .Lsim0
#                                           leaq  sim_shortcuts(%rip), %rsi    else the call, which may learn of more
#                                           call  sim_read4
#                                   .Lsim0:
#
# A call may change %rax, %rsi and the flags, so nobody has anything in them here. A store counts as a change of memory, too (machine/poll.h).
use strict;
use warnings;

my %log_align = (1 => 0, 2 => 1, 4 => 2, 8 => 3, 16 => 3);    # as observe.cpp judges it
my $count = 0;
while (my $line = <>) {
    print($line), next unless $line =~ /^\tcall\t__tsan_(read|write)(1|2|4|8|16)(\@PLT)?$/;
    my ($verb, $size) = ($1, $2);
    my ($own, $end) = ("sim_shortcuts+" . 24 * $count, ".Lsim$count");
    print "\tmovq\t%rdi, %rax\n\tsubq\t$own(%rip), %rax\n";
    print "\trorq\t\$$log_align{$size}, %rax\n" if $log_align{$size} > 0;
    print "\tcmpq\t$own+8(%rip), %rax\n";
    print $verb eq "read" ? "\tjb\t$end\n" : "\tjae\t${end}w\n\tincq\tsim_changes+8(%rip)\n\tjmp\t$end\n${end}w:\n";
    print "\tleaq\t$own(%rip), %rsi\n\tcall\tsim_$verb$size\n$end:\n";
    $count++;
}
print "\t.local\tsim_shortcuts\n\t.comm\tsim_shortcuts,", 24 * $count, ",8\n" if $count > 0;
print "\t.hidden\t$_\n" for "sim_changes", map { ("sim_read$_", "sim_write$_") } sort { $a <=> $b } keys %log_align;
