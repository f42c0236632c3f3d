# SPDX-License-Identifier: MIT
# recordings.sh - the measurements of `make recordings` for chapter 04; common/record/recordings.sh reads this.

record_04() {
    chapter 04_warp_scan
    run build/cuda/extra/04_warp_scan_reductions results/04_reductions.csv
}
