# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 11; common/record/recordings.sh reads this.

record_11() {
    chapter 11_stream
    # one long sequence, which only the variants cut that hand their state on: in pieces from too small to too large
    run build/cuda/11_stream --num-seqs 1 --seq-len 268435456 --piece 65536,262144,1048576,4194304,16777216,67108864 --forward \
        --variant in_only,kernel_only,out_only,both_ways,pageable,pinned,handed_on,managed --csv results/11_pieces.csv
    run build/cuda/11_stream --num-seqs 1 --seq-len 67108864 --piece 262144,1048576,4194304,16777216 --backward --csv results/11_backward.csv
    # ten thousand launches of 16 elements
    run build/cuda/11_stream --num-seqs 1 --seq-len 160000 --forward --variant launches,graph --csv results/11_launches.csv
}
