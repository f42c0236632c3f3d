# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 12; common/record/recordings.sh reads this.

# One rank, and as many as there are GPUs (two that share the GPU where there is one): the same sequence for all of them, then
# one that is longer by their number. Ranks that share a GPU take turns.
record_12() {
    if ! command -v mpirun > /dev/null; then
        echo "        chapter 12 left out: there is no mpirun"
        return
    fi
    . 12_ranks/mpirun.env
    gpus=$(nvidia-smi -L | grep -c '^GPU')
    variants='alone exscan forget'
    if [ "$gpus" -lt 2 ]; then
        gpus=2
    elif ! build/cuda/12_ranks --list | grep -q '^nccl .*not built'; then # it wants a GPU for each rank
        variants="$variants nccl"
    fi
    rm -f build/recordings/12_*.csv
    mkdir -p build/recordings
    for variant in $variants; do
        for ranks in 1 "$gpus"; do
            run mpirun -n "$ranks" build/cuda/12_ranks --variant $variant --forward --num-seqs 1 --seq-len 67108864 \
                --csv "build/recordings/12_strong_${ranks}_$variant.csv"
        done
        run mpirun -n "$gpus" build/cuda/12_ranks --variant $variant --forward --num-seqs 1 --seq-len $((67108864 * gpus)) \
            --csv "build/recordings/12_weak_$variant.csv"
    done
    if ls build/recordings/12_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/12_ranks.csv build/recordings/12_*.csv
    fi
}
