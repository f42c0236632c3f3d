#!/bin/sh
# gdb.sh PROGRAM COMMAND... - runs gdb with these commands and shows the session as it looks at the keyboard.
#
# What differs from machine to machine is taken out: addresses become 0x..., gdb's remarks about its libraries go.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 PROGRAM COMMAND..." >&2; exit 2; }
command -v gdb > /dev/null || { echo "gdb is missing; Debian's and Ubuntu's package is called gdb" >&2; exit 127; }
program=$1
shift

script=$(mktemp)
trap 'rm -f "$script"' EXIT
printf '%s\n' 'set trace-commands on' "$@" > "$script"
env -u DEBUGINFOD_URLS LC_ALL=C gdb -nx -batch -iex 'set pagination off' -iex 'set width 0' -x "$script" "$program" 2>&1 < /dev/null |
    perl -ne '
        next if /^\s*$|libthread_db|address space randomization/;
        s/^\++/(gdb) /;
        s/(?<!nan\()0x[0-9a-f]{5,}/0x.../g;
        s{\.\./(?=\d\d_|common/)}{}g;
        s/process \d+/process .../;
        print;
    '
