#!/bin/sh
# plot.sh CHAPTER [TERM] - draws the plots of one chapter, from the repository's root.
#
# The throughput plot comes from results/CHAPTER.csv, or where that holds no times (the simulator's does not) from the newest
# recording in 07_bench/results/. Then every CHAPTER/plots/*.gp whose input (its first line says "# reads FILE") is there.
# TERM=dumb draws in the terminal. Without gnuplot this is a sentence, not an error.
set -eu
export LC_ALL=C # in some languages 0.5 is written 0,5, and awk reads 0.5 as 0 there
chapter=$1
term=${2:-svg}

if ! command -v gnuplot >/dev/null; then
    echo "plots of $chapter skipped: gnuplot is not installed (make setup installs it)"
    exit 0
fi
mkdir -p results

# has_times CSV DIRECTION: does any such row hold a median? The simulator's hold none.
has_times() {
    [ -f "$1" ] && awk -F, -v direction="$2" '!/^#/ && $3 == direction && $8 + 0 > 0 { found = 1 } END { exit !found }' "$1"
}
draw() { # SCRIPT OUTPUT SETTINGS
    gnuplot -e "term='$term'; $3" "$1"
    [ "$term" = dumb ] || echo "drew $2"
}

csv=results/$chapter.csv
if ! has_times "$csv" forward; then
    csv=$(ls 07_bench/results/*/*-"$chapter".csv 2>/dev/null | sort -t/ -k4 | tail -n 1)
    [ -z "$csv" ] || echo "results/$chapter.csv holds no times; plotting the recorded $csv"
fi
if [ -n "$csv" ]; then
    for direction in forward backward; do
        [ $direction = forward ] && out=results/$chapter.svg || out=results/${chapter}_backward.svg
        ! has_times "$csv" $direction ||
            draw common/plots/throughput.gp "$out" "csv='$csv'; direction='$direction'; chapter='$chapter'; out='$out'"
    done
fi
for script in "$chapter"/plots/*.gp; do
    [ -f "$script" ] || continue
    input=$(sed -n '1s/^# reads //p' "$script")
    if [ -f "$input" ]; then
        draw "$script" "results/${chapter%%_*}_$(basename "$script" .gp).svg" ""
    else
        echo "$script skipped: $input is not there yet (make run writes it)"
    fi
done
