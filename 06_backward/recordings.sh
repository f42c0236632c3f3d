# recordings.sh - what `make recordings` measures for chapter 06; common/gpu/recordings.sh reads this.

record_06() {
    chapter 06_backward
    few_and_odd 06_backward
}

record_06_counters() {
    counters 06_backward backward 16384,65536
}
