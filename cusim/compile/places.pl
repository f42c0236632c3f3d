#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# places.pl - has a program say which line it comes to: reads its assembly (g++ -S -O0 -mno-red-zone, for x86-64), and writes it with a
# call of sim_watch_line (watch.cpp), which changes no register, where each line of the program's own sources begins.
#
#     .loc 1 41 9           becomes      .loc 1 41 9
#                                        call sim_watch_line@PLT
#
# Not before a function has its frame, in which its variables are, and not after that is gone.
use strict;
use warnings;

my (%is_own, $in_frame);
while (my $line = <>) {
    print $line;
    if ($line =~ /^\t\.file (\d+) "((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)")?/) {
        my ($number, $path) = ($1, defined $3 && $3 !~ m{^/} ? "$2/$3" : $3 // $2);
        $is_own{$number} = $path !~ m{^/usr/|(?:^|/)cusim/(?:include|machine|runtime|libraries|observe|explain|player)/};
    } elsif ($line =~ /^\t\.cfi_startproc/) { $in_frame = 0 }
    elsif ($line =~ /^\t\.cfi_def_cfa_register 6\b/) { $in_frame = 1 }
    elsif ($line =~ /^\t\.cfi_def_cfa 7, 8/) { $in_frame = 0 }
    elsif ($line =~ /^\t\.cfi_restore_state/) { $in_frame = 1 }
    elsif ($in_frame && $line =~ /^\t\.loc (\d+) [1-9]/ && $is_own{$1}) { print "\tcall\tsim_watch_line\@PLT\n" }
}
