# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 14; common/record/recordings.sh reads this.

# The product of matrices on its default shapes, in all types, as one file.
record_14_product() {
    rm -f build/recordings/14_product_*.csv
    mkdir -p build/recordings
    for type in float32 bf16 fp16; do
        run build/cuda/14_chunk_product --operation product --type "$type" --csv "build/recordings/14_product_$type.csv"
    done
    if ls build/recordings/14_product_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/14_product.csv build/recordings/14_product_*.csv
    fi
}

# The layer on its default shapes, with D alone: each further option would be a check of gradients more, which take a large shape
# seconds on the CPU. Tests have all options.
record_14_layer() {
    rm -f build/recordings/14_layer_*.csv
    mkdir -p build/recordings
    for type in float32 bf16; do
        run build/cuda/14_chunk_product --with D --type "$type" --csv "build/recordings/14_layer_$type.csv"
    done
    if ls build/recordings/14_layer_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/14_layer.csv build/recordings/14_layer_*.csv
    fi
}

# 16 packed sequences of very different lengths.
record_14_packed() {
    rm -f build/recordings/14_packed_*.csv
    mkdir -p build/recordings
    for type in float32 bf16; do
        run build/cuda/14_chunk_product --seqs 16 --with D --type "$type" --csv "build/recordings/14_packed_$type.csv"
    done
    if ls build/recordings/14_packed_*.csv > /dev/null 2>&1; then
        run perl common/record/merge.pl results/14_packed.csv build/recordings/14_packed_*.csv
    fi
}

record_14_peers() {
    peers 14_chunk_product
}
