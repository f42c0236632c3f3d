#!/bin/sh
# SPDX-License-Identifier: MIT
# foreign.sh FOLDER [CUSIM'S OPTIONS...] - tries every .cu file under a folder on the simulator, and prints how far each comes.
#
#   sh common/sim/foreign.sh ~/cuda-samples/Samples -I ~/cuda-samples/Common
#
# A file is compiled, together with the .cu, .cpp and .c files beside it where it has no main of its own; then it runs, for
# TIME_LIMIT=20 seconds, in its folder. Of what fails, the first message is kept. JOBS=2 at once.
set -eu
export LC_ALL=C
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: $0 FOLDER [CUSIM'S OPTIONS...]: tries every .cu file under the folder" >&2; exit 2; }
cusim=$(cd "$(dirname "$0")" && pwd)/cusim
folder=$(cd "$1" && pwd)
shift
export cusim
TIME_LIMIT=${TIME_LIMIT:-20}; export TIME_LIMIT
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export scratch

# One line for a file: what became of it, its name, the first message.
try='
file=$1; shift
name=$(printf %s "$file" | cksum | tr -d " ")
cd "$(dirname "$file")"
first() { grep -m 1 -i "error\|cusim:\|undefined\|simulator:\|fail" "$1" || head -n 1 "$1"; }
if ! "$cusim" -c "$(basename "$file")" -o "$scratch/$name.o" "$@" > "$scratch/$name.said" 2>&1; then
    echo "not compiled	$file	$(first "$scratch/$name.said")"; exit 0
fi
others=
for other in *.cu *.cpp *.c; do
    [ -e "$other" ] && [ "$other" != "$(basename "$file")" ] && ! grep -q "[^_a-zA-Z]main *(" "$other" && others="$others $other"
done
if ! grep -q "[^_a-zA-Z]main *(" "$file"; then echo "compiled	$file	(no main of its own)"; exit 0; fi
if ! "$cusim" "$scratch/$name.o" -o "$scratch/$name" > "$scratch/$name.said" 2>&1 &&
   ! "$cusim" "$scratch/$name.o" $others -o "$scratch/$name" "$@" >> "$scratch/$name.said" 2>&1; then
    echo "not linked	$file	$(first "$scratch/$name.said")"; exit 0
fi
status=0
timeout "$TIME_LIMIT" "$scratch/$name" > "$scratch/$name.out" 2> "$scratch/$name.said" < /dev/null || status=$?
case $status in
    0) echo "ran	$file	$(tail -n 1 "$scratch/$name.out")" ;;
    124) echo "too slow	$file	not done in $TIME_LIMIT s" ;;
    *) cat "$scratch/$name.out" >> "$scratch/$name.said"; echo "failed	$file	$(first "$scratch/$name.said")" ;;
esac
'
find "$folder" -name '*.cu' | sort | while read -r file; do printf '%s\0' "$file"; done |
    xargs -0 -P "${JOBS:-2}" -I{} sh -c "$try" try {} "$@" > "$scratch/all"
sort "$scratch/all" | sed "s|$folder/||" | cut -c 1-200
echo
cut -f 1 "$scratch/all" | sort | uniq -c
