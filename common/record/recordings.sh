#!/bin/sh
# SPDX-License-Identifier: MIT
# recordings.sh [PART...] - measures on this GPU all that the texts show, into results/, and records it (record.pl). From the repository's
# root, after a build with BACKEND=cuda; `make recordings ONLY="05 06"` calls it.
#
# Every chapter that runs on a GPU brings its own parts: functions in NN_chapter/recordings.sh, each named after its part,
#
#   record_NN() { ... }            part NN: what `make recordings ONLY=NN` measures
#   record_NN_counters() { ... }   part NN_counters, which ONLY=NN and ONLY=counters measure, too
#
# made of commands of its own (`run COMMAND`) and of the functions below. A chapter without this file has one part, its program on the default
# shapes. Without an argument all parts are measured; each line on the screen begins with the seconds since the start. What fails is named
# at the end, and the rest is recorded. The tables lie in results/, with the command on top of each; all that is printed goes to
# build/recordings.log.
set -eu
export LC_ALL=C
if [ "${BACKEND:-}" != cuda ]; then
    echo "make recordings needs a GPU and nvcc (this is BACKEND=${BACKEND:-sim}); the simulator knows no time"
    exit 2
fi

log=build/recordings.log
begin=$(date +%s)
failed=

# One command: its line and the seconds since the beginning on the screen, all that it prints in the log.
run() {
    printf '%4d s  %s\n' $(($(date +%s) - begin)) "$*"
    echo "==== $*" >> "$log"
    status=0
    case $1 in
        build/cuda/*) ${RUN:-} "$@" ;;
        *) "$@" ;; # scripts start their own programs with $RUN
    esac >> "$log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        failed="$failed
    $* (status $status)"
        grep FAILED "$log" | tail -n 3 || true
    fi
}

# A chapter's program on its default shapes, into results/CHAPTER.csv.
chapter() {
    run "build/cuda/$1" --csv "results/$1.csv"
}

# How many sequences give each SM one: a hundredth of the default shapes' number.
one_for_each_sm() {
    most=$(perl common/pages/rows.pl "results/$1.csv" num_seqs | sort -n | tail -n 1)
    echo $((${most:-0} / 100))
}

# Few sequences, and lengths that are no multiple of anything.
few_and_odd() {
    run "build/cuda/$1" --num-seqs "$(one_for_each_sm "$1")" --seq-len 1024,65536,1048576 --csv "results/${1%%_*}_few.csv"
    run "build/cuda/$1" --seq-len 1000,4097,10007 --csv "results/${1%%_*}_odd.csv"
}

# What ncu counts of a chapter's kernels: CHAPTER DIRECTION LENGTHS.
counters() {
    run env CHAPTER="$1" DIRECTION="$2" LENGTHS="$3" perl common/record/profile.pl
}

# Other systems, as a chapter's peers.py times them; left out without Python and torch.
peers() {
    if python3 -c 'import torch' 2> /dev/null; then
        run ${RUN:-} python3 -B "$1/peers.py" --csv "results/${1%%_*}_peers.csv"
        grep '^skipped' "$log" || true
    else
        echo "        peers left out: python3 has no torch here"
    fi
}

# the parts: a chapter's functions, or its number
parts=
for folder in [0-9][0-9]_*; do
    number=${folder%%_*}
    if [ -f "$folder/recordings.sh" ]; then
        # shellcheck disable=SC1090
        . "./$folder/recordings.sh"
        parts="$parts $(sed -n "s/^record_\(${number}[a-z0-9_]*\)() *{.*/\1/p" "$folder/recordings.sh" | tr '\n' ' ')"
    elif [ -n "$(find "$folder" -name '*.cu')" ]; then
        eval "record_$number() { chapter $folder; }"
        parts="$parts $number"
    fi
done

# those that are wanted
wanted=
for word in ${*:-$parts}; do
    found=
    for part in $parts; do
        case $part in "$word" | "${word}_"* | *"_$word") found="$found $part" ;; esac
    done
    if [ -z "$found" ]; then
        echo "make recordings: there is no part \"$word\"; choose of" $parts >&2
        exit 2
    fi
    wanted="$wanted $found"
done

mkdir -p results build
: > "$log"
for part in $wanted; do
    "record_$part"
done
printf '%4d s  ' $(($(date +%s) - begin))
perl common/record/record.pl
if [ -n "$failed" ]; then
    echo "failed, see $log:$failed"
    exit 1
fi
