# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 05; common/record/recordings.sh reads this.

# The honest test: the copies alone, the work alone, and both, in blocks of the same size, with one, two and three stages.
overlap() {
    rm -f build/recordings/overlap_*.csv
    mkdir -p build/recordings
    for stages in 1 2 3; do
        for variant in copy_only work_only async; do
            run build/cuda/05_pipe --variant "$variant" --config "threads=256,stages=$stages" --num-seqs "$(one_for_each_sm 05_pipe)" \
                --seq-len 1048576 --csv "build/recordings/overlap_${stages}_$variant.csv"
        done
    done
    if ls build/recordings/overlap_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/05_overlap.csv build/recordings/overlap_*.csv
    fi
}

record_05() {
    chapter 05_pipe
    few_and_odd 05_pipe
    overlap
    run build/cuda/extra/05_pipe_hints --csv results/05_hints.csv
}

record_05_counters() {
    counters 05_pipe forward 16384,65536
}
