#!/bin/sh
# recordings.sh [PART...] - measures on this GPU all that the texts show, into results/, and records it (record.pl). From the repository's
# root, after a build with BACKEND=cuda; `make recordings ONLY="05 06"` calls it.
#
#   02 03 04 05 06   a chapter: its program, and what else its text shows
#   07               the comparison, and CUB on one very long sequence
#   attrs            what each launch takes of the chip
#   tune             every shape of every kernel that takes one
#   counters         what ncu counts, for 02, 05 and 06 and for the comparison
#   peers            other systems (left out without Python and torch)
#
# Without an argument all of them; each line on the screen begins with the seconds since the start. What fails is named at the end, and the
# rest is recorded. The tables lie in results/, with the command on top of each; all that is printed goes to build/recordings.log.
set -eu
export LC_ALL=C # in some languages 0.5 is written 0,5, and awk reads 0.5 as 0 there
if [ "${BACKEND:-}" != cuda ]; then
    echo "make recordings needs a GPU and nvcc (this is BACKEND=${BACKEND:-sim}); the simulator knows no time"
    exit 2
fi
parts=${*:-02 03 04 05 06 07 attrs tune counters peers}
for part in $parts; do
    case $part in
        02 | 03 | 04 | 05 | 06 | 07 | attrs | tune | counters | peers) ;;
        *)
            echo "make recordings: there is no part \"$part\"; choose of 02 03 04 05 06 07 attrs tune counters peers" >&2
            exit 2
            ;;
    esac
done

log=build/recordings.log
: > "$log"
mkdir -p results
begin=$(date +%s)
failed=

# One command: its line and the seconds since the beginning on the screen, all that it prints in the log.
run() {
    printf '%4d s  %s\n' $(($(date +%s) - begin)) "$*"
    echo "==== $*" >> "$log"
    status=0
    "$@" >> "$log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        failed="$failed
    $* (status $status)"
        grep FAILED "$log" | tail -n 3 || true
    fi
}

# A chapter's program on its default shapes, into results/NAME.csv.
chapter() {
    run "build/cuda/$1" --csv "results/$1.csv"
}

# How many sequences give each SM one: a hundredth of the default shapes' number.
one_for_each_sm() {
    awk -F, '!/^#/ && $4 + 0 > most { most = $4 + 0 } END { print most / 100 }' "results/$1.csv"
}

# Few sequences, and lengths that are no multiple of anything.
few_and_odd() {
    run "build/cuda/$1" --num-seqs "$(one_for_each_sm "$1")" --seq-len 1024,65536,1048576 --csv "results/${1%%_*}_few.csv"
    run "build/cuda/$1" --seq-len 1000,4097,10007 --csv "results/${1%%_*}_odd.csv"
}

# merge TARGET CSV... - one table of several runs: all their commands, the first one's date and toolkit, each row (by its first five columns,
# which say what was measured) once.
merge() {
    target=$1
    shift
    first=$1
    {
        grep -h '^# command' "$@"
        grep '^#' "$first" | grep -v '^# command'
        awk -F, '!/^#/ && !seen[$1, $2, $3, $4, $5]++' "$@"
    } > "$target.partial"
    mv "$target.partial" "$target"
}

# The honest test of 05: the copies alone, the work alone, and both, in blocks of the same size, with one, two and three stages.
overlap() {
    mkdir -p build/recordings
    rm -f build/recordings/overlap_*.csv
    for stages in 1 2 3; do
        for variant in copy_only work_only async; do
            run build/cuda/05_pipe --variant "$variant" --config "threads=256,stages=$stages" --num-seqs "$(one_for_each_sm 05_pipe)" \
                --seq-len 1048576 --csv "build/recordings/overlap_${stages}_$variant.csv"
        done
    done
    if ls build/recordings/overlap_*.csv > /dev/null 2>&1; then
        merge results/05_overlap.csv build/recordings/overlap_*.csv
    fi
}

counters() { # CHAPTER DIRECTION LENGTHS
    run env CHAPTER="$1" DIRECTION="$2" LENGTHS="$3" perl 07_bench/profile.pl
}

for part in $parts; do
    case $part in
        02)
            chapter 02_cuda_ref
            run build/cuda/extra/02_cuda_ref_stores results/02_stores.csv
            ;;
        03) chapter 03_tile ;;
        04) chapter 04_warp_scan ;;
        05)
            chapter 05_pipe
            few_and_odd 05_pipe
            overlap
            run build/cuda/extra/05_pipe_hints --csv results/05_hints.csv
            ;;
        06)
            chapter 06_backward
            few_and_odd 06_backward
            ;;
        07)
            run build/cuda/07_bench --csv results/07_bench.csv
            run build/cuda/07_bench --variant cub_scan --forward --num-seqs 1 --seq-len 134217728 --csv results/07_long.csv
            # its way to load rows that are no multiple of 4: single floats, the width of the scans by key
            run build/cuda/07_bench --variant cub_block_scan --forward --seq-len 16383 --csv results/07_odd.csv
            ;;
        attrs) run build/cuda/extra/07_bench_launches --csv results/07_attrs.csv ;;
        tune) run build/cuda/extra/07_bench_tune --repeats 9 --seq-len 16,64,256,1024,4096,16384,65536 --csv results/07_tune.csv ;;
        counters)
            counters 02_cuda_ref forward 16384
            counters 05_pipe forward 16384,65536
            counters 06_backward backward 16384,65536
            run perl 07_bench/profile.pl
            ;;
        peers)
            if python3 -c 'import torch' 2> /dev/null; then
                run python3 -B 07_bench/peers.py --csv results/07_peers.csv
                grep '^skipped' "$log" || true
            else
                echo "        peers left out: python3 has no torch here"
            fi
            ;;
    esac
done
printf '%4d s  ' $(($(date +%s) - begin))
perl 07_bench/record.pl
if [ -n "$failed" ]; then
    echo "failed, see $log:$failed"
    exit 1
fi
