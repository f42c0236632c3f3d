/* SPDX-License-Identifier: MIT */
/* 04.2: the recurrence over rows of at most 32 elements. */
#include "judge.h"

JUDGE_RECURRENCE(launch_scan, int, {1, 32}, {1, 1}, {2, 2}, {3, 7}, {5, 16}, {4, 17}, {3, 31}, {1, 0}, {0, 5})
