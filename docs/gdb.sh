#!/bin/sh
# SPDX-License-Identifier: MIT
# gdb.sh PROGRAM COMMAND... - runs gdb with these commands and shows the session as it looks at the keyboard.
#
# FILE:/regex/ in a command becomes FILE:LINE, the first line that matches, FILE:/regex/+2 two lines behind it. What differs from machine
# to machine is taken out: addresses become 0x..., gdb's remarks about its own work go.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 PROGRAM COMMAND..." >&2; exit 2; }
command -v gdb > /dev/null || { echo "gdb is missing; Debian's and Ubuntu's package is called gdb" >&2; exit 127; }
program=$1
shift

script=$(mktemp)
trap 'rm -f "$script"' EXIT
perl -e '
    print "set trace-commands on\n";
    for (@ARGV) {
        s{(\S+\.\w+):/(.*?)/(?:\+(\d+))?(?=[ ,]|$)}{
            my ($file, $regex, $behind) = ($1, $2, $3 // 0);
            open my $source, "<", $file or die "$file: $!\n";
            my @lines = ("", <$source>);
            my ($line) = grep { $lines[$_] =~ /$regex/ } 1 .. $#lines or die "$file has no line /$regex/\n";
            "$file:" . ($line + $behind);
        }e;
        print "$_\n";
    }' -- "$@" > "$script"
env -u DEBUGINFOD_URLS LC_ALL=C gdb -nx -batch -iex 'set pagination off' -iex 'set width 0' -x "$script" "$program" 2>&1 < /dev/null |
    perl -e '
        open my $script, "<", shift or die;
        my @commands = <$script>;
        shift @commands;
        while (<STDIN>) {
            if (/^\++(.*)/s) { # a command; if it is not the next one, gdb has made it up from another
                next if !@commands || $1 ne $commands[0];
                print "(gdb) ", shift @commands;
                next;
            }
            next if /^\s*$|libthread_db|address space randomization|^\[Detaching after/;
            s/(?<!nan\()0x[0-9a-f]{5,}/0x.../g;
            s{(?:\.\./)+(?=\d\d_|common/)}{}g;
            s/process \d+/process .../;
            s/^((?:Temporary )?[Bb]reakpoint \d+)\.\d+,/$1,/; # newer versions of gdb number the places of a breakpoint
            s/(\w+(?:<[\d, ]+>)?)\([^()]*\) \(/$1 (/; # and sometimes name the types of the parameters
            print;
        }' "$script"
