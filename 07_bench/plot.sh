#!/bin/sh
# plot.sh [TERM | --recorded] - draws chapter 07's plots, from the repository's root.
#
# From results/07_bench.csv or results/07_quick.csv, if they hold times, else from the newest recording in 07_bench/results/, into results/.
# gnuplot draws the ladder over the length (TERM=dumb: in the terminal), matplotlib the rest (figures.py). --recorded: from the recordings
# alone, into 07_bench/figures/, where the texts show them. Without the one or the other this is a sentence, not an error.
set -eu
export LC_ALL=C # in some languages 0.5 is written 0,5, and awk reads 0.5 as 0 there
term=${1:-svg}
has_times() { # the median is column 8
    [ -f "$1" ] && awk -F, '!/^#/ && $8 + 0 > 0 { found = 1 } END { exit !found }' "$1"
}
[ "$term" = --recorded ] && device=h200 || device='*' # the texts speak of this GPU
newest() { # NAME: the newest recording with that name
    # shellcheck disable=SC2086
    ls 07_bench/results/$device/*-"$1".csv 2>/dev/null | sort -t/ -k4 | tail -n 1
}

# the tables: one that compares all, or the chapters' own; and the profiler's and the tuner's
tables=
if [ "$term" != --recorded ]; then
    for csv in results/07_bench.csv results/07_quick.csv; do
        [ -n "$tables" ] || ! has_times "$csv" || tables=$csv
    done
fi
if [ -n "$tables" ]; then
    for csv in results/07_counters.csv results/07_tune.csv; do
        [ ! -f "$csv" ] || tables="$tables $csv"
    done
else
    tables=$(newest 07_bench)
    if [ -z "$tables" ]; then
        for chapter in [0-9][0-9]_*; do
            tables="$tables $(newest "$chapter")"
        done
    fi
    tables="$tables $(newest 07_counters) $(newest 07_tune)"
    [ -n "$(newest 07_counters)" ] || tables="$tables $(newest 05_counters)"
    [ "$term" = --recorded ] || echo "no table of chapter 07 in results/ holds times; plotting recorded ones"
fi

# the ladder for gnuplot: the most sequences, one name for chapter and variant
if [ "$term" != --recorded ]; then
    mkdir -p results
    # shellcheck disable=SC2086
    awk -F, -v OFS=, '
        /^#/ || $3 != "forward" || $8 + 0 <= 0 || NF != 14 { next }
        { line[++n] = $0; if ($4 + 0 > most) most = $4 + 0 }
        END {
            rungs = split("07_bench/copy 07_bench/add 02_cuda_ref/full_blocks 03_tile/shared 04_warp_scan/block 07_bench/cub_by_key 07_bench/cub_block_scan 05_pipe/default 06_backward/default", wanted, " ")
            print "chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error"
            for (w = 1; w <= rungs; w++)
                for (i = 1; i <= n; i++) {
                    $0 = line[i]
                    if ($1 "/" $2 != wanted[w] || $4 != most || seen[$1 "/" $2 "/" $5]++) continue
                    if ($2 == "default" || $1 != "07_bench") $2 = substr($1, 1, 2) "_" $2
                    print
                }
        }' $tables > results/07_ladder.csv
    sh common/plots/plot.sh 07_ladder ${1:+"$term"}
fi
if [ "$term" != svg ] && [ "$term" != --recorded ]; then
    exit 0 # the rest is for no terminal
fi

python=
for candidate in $(command -v python3 || true) /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import matplotlib' 2>/dev/null || python=$candidate
done
if [ -z "$python" ]; then
    echo "figures of 07_bench skipped (ladder, throughput, backward, roofline, sequences, tuning): no python3 with matplotlib is installed (make setup installs it)"
    exit 0
fi
[ "$term" = --recorded ] && out='--svg 07_bench/figures' || out=results/figures
# shellcheck disable=SC2086
"$python" -B 07_bench/figures.py $out $tables
