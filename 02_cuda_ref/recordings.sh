# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 02; common/record/recordings.sh reads this.

record_02() {
    chapter 02_cuda_ref
    run build/cuda/extra/02_cuda_ref_stores results/02_stores.csv
    run build/cuda/extra/02_cuda_ref_mixed results/02_mixed.csv
}

record_02_counters() {
    counters 02_cuda_ref forward 16384
}
