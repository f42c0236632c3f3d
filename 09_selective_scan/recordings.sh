# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 09; common/record/recordings.sh reads this.

# The program with 2048 channels in one group and further options, into build/recordings/NAME.csv.
selective() {
    name=$1
    shift
    run build/cuda/09_selective_scan --channels 2048 --groups 1 "$@" --csv "build/recordings/09_$name.csv"
}

# The shapes of the text, in both directions; 16 bits; and the numbers of states.
record_09() {
    rm -f build/recordings/09_*.csv
    mkdir -p build/recordings
    selective eight --batch 8 --states 16 --seq-len 2048,8192
    selective one --batch 1 --states 16 --seq-len 1024,65536
    selective bf16 --batch 8 --states 16 --seq-len 8192 --type bf16
    for states in 1 4 64; do
        selective "states_$states" --batch 8 --states "$states" --seq-len 8192 --forward
    done
    selective states_64_backward --batch 2 --states 64 --seq-len 8192 --backward
    if ls build/recordings/09_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/09_selective_scan.csv build/recordings/09_*.csv
    fi
}

# One step, with the sizes that the program has by itself.
record_09_step() {
    rm -f build/recordings/09_step_*.csv
    mkdir -p build/recordings
    for type in float32 bf16; do
        run build/cuda/09_selective_scan --step --type "$type" --csv "build/recordings/09_step_$type.csv"
    done
    if ls build/recordings/09_step_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/09_step.csv build/recordings/09_step_*.csv
    fi
}

record_09_peers() {
    peers 09_selective_scan
}
