# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 08; common/record/recordings.sh reads this.

record_08() {
    rm -f build/recordings/08_*.csv
    mkdir -p build/recordings
    run build/cuda/08_lookback --forward --csv build/recordings/08_forward.csv
    run build/cuda/08_lookback --backward --csv build/recordings/08_backward.csv
    run build/cuda/08_lookback --forward --reverse --num-seqs 1 --seq-len 65536,1048576,16777216,268435456 \
        --csv build/recordings/08_reverse.csv
    run perl common/record/merge.pl results/08_lookback.csv build/recordings/08_*.csv
}
