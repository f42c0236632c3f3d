# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 07; common/record/recordings.sh reads this.

# The comparison, and CUB alone: on one very long sequence, and on rows whose length is no multiple of 4, where BlockScan loads single floats,
# as the scans by key do.
record_07() {
    chapter 07_bench
    run build/cuda/07_bench --variant cub_scan --forward --num-seqs 1 --seq-len 134217728 --csv results/07_long.csv
    run build/cuda/07_bench --variant cub_block_scan --forward --seq-len 16383 --csv results/07_odd.csv
}

# What each launch takes of the chip: registers, shared memory, occupancy.
record_07_attrs() {
    run build/cuda/extra/07_bench_launches --csv results/07_attrs.csv
}

# Every launch configuration of every kernel that takes one.
record_07_tune() {
    run build/cuda/extra/07_bench_tune --repeats 9 --seq-len 16,64,256,1024,4096,16384,65536 --csv results/07_tune.csv
}

record_07_counters() {
    run perl common/record/profile.pl 07_bench
}

record_07_peers() {
    peers 07_bench
}
