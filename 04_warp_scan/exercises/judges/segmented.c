/* SPDX-License-Identifier: MIT */
/* 04.3: the recurrence over rows of at most 32 elements, several in a warp. */
#include "judge.h"

JUDGE_RECURRENCE(launch_segmented, int, {8, 8}, {2, 5}, {6, 5}, {13, 5}, {40, 1}, {33, 3}, {3, 16}, {3, 17}, {3, 31},
                 {2, 32}, {1, 0}, {0, 5})
