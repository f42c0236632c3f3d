#!/bin/sh
# SPDX-License-Identifier: MIT
# foreign.sh FOLDER [CUSIM'S OPTIONS...] - tries every .cu file under a folder on the simulator, and prints how far each comes.
#
#   sh tests/foreign.sh ~/cuda-samples/Samples -I ~/cuda-samples/Common
#   SMALLER=tests/foreign.smaller sh tests/foreign.sh ...      sizes that suit the simulator
#
# Each .cu file is compiled. A program is a .cu, .cpp or .c file that has a main; it is linked alone, or, where that fails, with
# the files beside it that have none, and runs in its folder, without arguments, for TIME_LIMIT=20 seconds of processor time. Of what fails the
# first message is kept. JOBS=2 at once; KEEP=FOLDER keeps what the programs said. All of it happens in a copy of the folder.
#
# Where the first message is of a race, the program runs again with CUSIM_CHECKS=bounds, to see whether it is right otherwise.
#
# A line of SMALLER: the end of a file's path, then what sed does with it in the copy, or $ and settings and arguments of the
# program.
set -eu
export LC_ALL=C
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: $0 FOLDER [CUSIM'S OPTIONS...]: tries every .cu file under the folder" >&2; exit 2; }
cusim=$(cd "$(dirname "$0")/.." && pwd)/compile/cusim
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
copy=$scratch/$(basename "$(cd "$1" && pwd)")
said=${KEEP:-$scratch/said}
smaller=$scratch/smaller
mkdir -p "$said" "$scratch/made"
said=$(cd "$said" && pwd)
cp -R "$1" "$copy"
shift
grep -v '^#\|^$' "${SMALLER:-/dev/null}" > "$smaller" || true
while read -r path what; do
    case $what in '$'*) continue ;; esac
    find "$copy" -path "*/$path" | while read -r file; do sed -i "$what" "$file"; done
done < "$smaller"
: "${TIME_LIMIT:=20}"
export cusim scratch copy said smaller TIME_LIMIT

# What both steps use: a short name for a file, its first message, whether it has a main.
common='
name_of() { printf %s "${1#"$copy"/}" | tr -c "A-Za-z0-9\n" _; }
first() { grep -m 1 -E "^simulator: |error|cusim: [^w]|undefined|[Ff]ail|FAIL" "$1" | sed "s|$copy/||g; s|.*/ld: ||; s|.*/\([^/]*: undefined\)|\1|" || tail -n 1 "$1"; }
has_main() { grep -qE "(^|[^_a-zA-Z])main *\(" "$1"; }
tell() { printf "%s\t%s\t%s\n" "$1" "${2#"$copy"/}" "$3" >> "$scratch/all"; [ ! -t 2 ] || printf "%s\n" "$1: ${2#"$copy"/}" >&2; }
openmp() { ! grep -q "omp\.h" "$@" || echo "-Xcompiler -fopenmp"; }
'
# One .cu file becomes an object.
compile=$common'
file=$1; shift
name=$(name_of "$file"); cd "$(dirname "$file")"
if "$cusim" -c "$(basename "$file")" -o "$scratch/made/$name.o" "$@" $(openmp "$file") > "$said/$name.compiler" 2>&1; then
    tell compiled "$file" ""
else
    tell "not compiled" "$file" "$(first "$said/$name.compiler")"
fi'
# One file with a main becomes a program, and that runs.
try=$common'
file=$1; shift
name=$(name_of "$file"); cd "$(dirname "$file")"
program=$(basename "${file%.*}"); binary=$scratch/made/$name.run/$program; mkdir -p "$scratch/made/$name.run"
own=$(basename "$file"); others=
[ ! -e "$scratch/made/$name.o" ] || own=$scratch/made/$name.o
for other in *.cu *.cpp *.c; do
    if [ ! -e "$other" ] || [ "$other" = "$(basename "$file")" ] || has_main "$other"; then continue; fi
    object=$scratch/made/$(name_of "$PWD/$other").o
    case $other in
        *.cu) if [ -e "$object" ]; then others="$others $object"; fi ;;
        *) others="$others $other" ;;
    esac
done
alone=1
case $file in *.cu) ;; *) alone=0; [ -n "$others" ] || exit 0 ;; esac
flags=$(openmp "$(basename "$file")")
if ! { [ $alone = 1 ] && "$cusim" "$own" -o "$binary" "$@" $flags > "$said/$name.linker" 2>&1; } &&
   ! "$cusim" "$own" $others -o "$binary" "$@" $flags > "$said/$name.linker" 2>&1; then
    tell "not linked" "$file" "$(first "$said/$name.linker")"; exit 0
fi
arguments=$(while read -r path what; do case $file in */$path) case $what in "\$"*) echo "${what#?}" ;; esac ;; esac; done < "$smaller")
settings=$(for word in $arguments; do case $word in [A-Z]*=*) echo "$word" ;; esac; done)
arguments=$(for word in $arguments; do case $word in [A-Z]*=*) ;; *) echo "$word" ;; esac; done)
run() { (ulimit -t "$TIME_LIMIT"; exec env $settings timeout $((TIME_LIMIT * 20)) "$binary" $arguments < /dev/null); }
status=0
run > "$said/$name.out" 2> "$said/$name.err" || status=$?
cat "$said/$name.out" >> "$said/$name.err"
case $status in
    0) tell ran "$file" "$(tail -n 1 "$said/$name.out")" ;;
    124 | 137 | 152) tell "too slow" "$file" "not done in $TIME_LIMIT s" ;;
    *) if grep -q ": error: .*: race: " "$said/$name.err" && CUSIM_CHECKS=bounds run > "$said/$name.again" 2>&1; then
           tell "ran, a race told" "$file" "$(first "$said/$name.err")"
       elif grep -qE ": error: (kernel|host code)" "$said/$name.err"; then tell "told a fault" "$file" "$(first "$said/$name.err")"
       elif grep -qi "waiv" "$said/$name.err"; then tell "not for this device" "$file" "$(grep -i -m 1 waiv "$said/$name.err")"
       else tell failed "$file" "status $status: $(first "$said/$name.err")"; fi ;;
esac'
: > "$scratch/all"
find "$copy" -name '*.cu' | sort | tr '\n' '\0' | xargs -0 -P "${JOBS:-2}" -I{} sh -c "$compile" compile {} "$@"
find "$copy" -name '*.cu' -exec dirname {} \; | sort -u | while read -r folder; do
    for file in "$folder"/*.cu "$folder"/*.cpp "$folder"/*.c; do
        [ -e "$file" ] && grep -qE '(^|[^_a-zA-Z])main *\(' "$file" || continue
        case $file in *.cu) grep -q "^not compiled	${file#"$copy"/}	" "$scratch/all" && continue ;; esac
        printf '%s\0' "$file"
    done
done | xargs -0 -P "${JOBS:-2}" -I{} sh -c "$try" try {} "$@"

sort "$scratch/all" | grep -v '^compiled' | cut -c 1-250
count() { grep -c "^$1	" "$scratch/all" || true; }
echo
echo "| .cu files | compile | programs | link | ran right | right, but for a race | another fault told | failed |" \
    "not done in $TIME_LIMIT s | not for this device |"
echo "|---|---|---|---|---|---|---|---|---|---|"
link=$(($(count ran) + $(count 'ran, a race told') + $(count 'told a fault') + $(count failed) + $(count 'too slow') + $(count 'not for this device')))
echo "| $(($(count compiled) + $(count 'not compiled'))) | $(count compiled) | $((link + $(count 'not linked'))) | $link |" \
    "$(count ran) | $(count 'ran, a race told') | $(count 'told a fault') | $(count failed) | $(count 'too slow') | $(count 'not for this device') |"
