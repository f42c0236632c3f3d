# recordings.sh - what `make recordings` measures for chapter 08; common/gpu/recordings.sh reads this.

record_08() {
    rm -rf build/recordings
    mkdir -p build/recordings
    run build/cuda/08_lookback --forward --csv build/recordings/forward.csv
    run build/cuda/08_lookback --backward --csv build/recordings/backward.csv
    run build/cuda/08_lookback --forward --reverse --num-seqs 1 --seq-len 65536,1048576,16777216,268435456 \
        --csv build/recordings/reverse.csv
    run perl common/gpu/merge.pl results/08_lookback.csv build/recordings/*.csv
}
