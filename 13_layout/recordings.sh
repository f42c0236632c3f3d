# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 13; common/record/recordings.sh reads this.

# NAME OPTIONS: the program with these options in float32 and bf16, into build/recordings/13_NAME_TYPE.csv.
layout() {
    name=$1
    shift
    for type in float32 bf16; do
        run build/cuda/13_layout --type "$type" "$@" --csv "build/recordings/13_${name}_$type.csv"
    done
}

# The same, forward and backward.
passes() {
    name=$1
    shift
    layout "${name}_forward" --forward "$@"
    layout "${name}_backward" --backward "$@"
}

# KIND: its files become results/13_KIND.csv.
layout_merge() {
    if ls build/recordings/13_"$1"_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl "results/13_$1.csv" build/recordings/13_"$1"_*.csv
    fi
}

# The shapes of the text.
record_13() {
    rm -f build/recordings/13_layout_*.csv
    mkdir -p build/recordings
    passes layout_eight --batch 8 --seq-len 2048 --channels 2048
    passes layout_full --batch 32 --seq-len 1024 --channels 4096
    passes layout_long --batch 1 --seq-len 8192,65536 --channels 2048
    passes layout_narrow --batch 1 --seq-len 65536 --channels 1024
    passes layout_few --batch 4 --seq-len 16384 --channels 256
    layout_merge layout
}

# 64 sequences of very different lengths, packed.
record_13_packed() {
    rm -f build/recordings/13_packed_*.csv
    mkdir -p build/recordings
    passes packed_64 --seqs 64 --seq-len 262144 --channels 2048
    layout_merge packed
}

# One step of 32 layers.
record_13_step() {
    rm -f build/recordings/13_step_*.csv
    mkdir -p build/recordings
    for batch in 256 64 8; do
        layout "step_$batch" --step --layers 32 --batch "$batch" --channels 4096
    done
    layout_merge step
}

record_13_peers() {
    peers 13_layout
}
