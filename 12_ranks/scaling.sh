#!/bin/sh
# SPDX-License-Identifier: MIT
# scaling.sh - times 1, 2 and 4 ranks on this machine, from the repository's root: weak scaling, 16384 elements a rank, and strong scaling, 65536
# in all; two sequences. Prints CSV. On the simulator that is the time of the simulator, on the cores that there are.
set -eu
program=${1:-build/sim/12_ranks}
csv=build/12_scaling.csv
echo "# $(grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) cores, $(date +%Y-%m-%d), $program"
echo "scaling,variant,ranks,seq_len,wall_ms,wall_p20_ms,wall_p80_ms"
for ranks in 1 2 4; do
    for scaling in weak strong; do
        length=65536
        [ $scaling = strong ] || length=$((16384 * ranks))
        for variant in alone exscan forget; do
            mpirun -n $ranks "$program" --forward --variant $variant --num-seqs 2 --seq-len $length --repeats 9 --csv $csv > /dev/null
            awk -F, -v scaling=$scaling '/^chapter,/ { for (i = 1; i <= NF; i++) c[$i] = i }
                /^12_/ { print scaling "," $c["variant"] "," $c["ranks"] "," $c["seq_len"] "," $c["wall_ms"] "," $c["wall_p20_ms"] "," $c["wall_p80_ms"] }' $csv
        done
    done
done
