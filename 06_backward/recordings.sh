# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 06; common/record/recordings.sh reads this.

# Lengths between powers of two at which the default of the gradients changes its mind.
short_gradients() {
    mkdir -p build/recordings
    for reverse in "" --reverse; do
        # shellcheck disable=SC2086
        run build/cuda/06_backward --backward $reverse --seq-len 128,192,200,256,257,260,300,320,384,448,512 \
            --csv "build/recordings/short$reverse.csv"
    done
    run perl common/record/merge.pl results/06_short.csv build/recordings/short.csv build/recordings/short--reverse.csv
}

# Gradients of sequences that are a single tile, one for each multiprocessor: more rows of the table of few sequences.
one_tile() {
    run build/cuda/06_backward --backward --num-seqs "$(one_for_each_sm 06_backward)" --seq-len 128,256,512,2048,4096 \
        --csv build/recordings/06_tile.csv
    run perl common/record/merge.pl results/06_few.csv results/06_few.csv build/recordings/06_tile.csv
}

record_06() {
    chapter 06_backward
    short_gradients
    few_and_odd 06_backward
    one_tile
    run build/cuda/extra/06_backward_shared_coefficients results/06_shared.csv
    run build/cuda/extra/06_backward_histogram results/06_histogram.csv
}

record_06_counters() {
    counters 06_backward backward 16384,65536
}
