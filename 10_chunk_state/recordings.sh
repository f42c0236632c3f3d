# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 10; common/record/recordings.sh reads this.

# NAME RANK OPTIONS: the program with states of 64 x 64, a decay for each row and W and Y of that rank, into build/recordings/10_NAME.csv.
chunk_state() {
    name=$1
    rank=$2
    shift 2
    run build/cuda/10_chunk_state --dk 64 --dv 64 --decays 64 --rank "$rank" "$@" --csv "build/recordings/10_$name.csv"
}

# The shapes of the text in both types and directions, over chunks, heads and ranks; one decay for all rows; and the exclusive states once.
record_10() {
    rm -f build/recordings/10_*.csv
    mkdir -p build/recordings
    for type in float32 bf16; do
        chunk_state "chunks_$type" 0 --batch 4 --heads 16 --chunks 2,4,8,16,32,64,128 --type "$type"
        chunk_state "large_$type" 0 --batch 8 --heads 32 --chunks 128 --type "$type"
        chunk_state "few_$type" 0 --batch 1 --heads 4 --chunks 512 --type "$type"
        for rank in 4 16 64; do
            chunk_state "rank_${rank}_$type" "$rank" --batch 4 --heads 16 --chunks 64 --type "$type"
        done
        for heads in 1 2 8 16 32; do
            chunk_state "heads_${heads}_$type" 0 --batch 1 --heads "$heads" --chunks 512 --type "$type"
        done
    done
    run build/cuda/10_chunk_state --dk 64 --dv 64 --decays 1 --rank 0 --batch 4 --heads 16 --chunks 64 --csv build/recordings/10_one_decay.csv
    chunk_state exclusive 0 --batch 4 --heads 16 --chunks 64 --forward --exclusive
    if ls build/recordings/10_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/10_chunk_state.csv build/recordings/10_*.csv
    fi
}

# One position, with the sizes that the program has by itself.
record_10_step() {
    rm -f build/recordings/10_step_*.csv
    mkdir -p build/recordings
    for type in float32 bf16; do
        run build/cuda/10_chunk_state --step --type "$type" --csv "build/recordings/10_step_$type.csv"
    done
    if ls build/recordings/10_step_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/10_step.csv build/recordings/10_step_*.csv
    fi
}

# How many chunks early? In registers, and in stages that TMA fills.
record_10_ahead() {
    rm -f build/recordings/10_ahead_*.csv
    mkdir -p build/recordings
    for config in prefetch:rows=2 prefetch:rows=4 prefetch:rows=8 prefetch:rows=16 tma:stages=2 tma:stages=3 tma:stages=4 tma:stages=6; do
        chunk_state "ahead_small_$config" 0 --batch 4 --heads 16 --chunks 64 --forward --variant "${config%%:*}" --config "${config#*:}"
        chunk_state "ahead_large_$config" 0 --batch 8 --heads 32 --chunks 128 --forward --variant "${config%%:*}" --config "${config#*:}"
    done
    if ls build/recordings/10_ahead_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/10_ahead.csv build/recordings/10_ahead_*.csv
    fi
}

# What ncu counts at the proposal's shape.
record_10_counters() {
    run perl 10_chunk_state/counters.pl
}

record_10_peers() {
    peers 10_chunk_state
}
