/* SPDX-License-Identifier: MIT */
/* 04.4: the recurrence over rows of any length. */
#include "judge.h"

JUDGE_RECURRENCE(launch_walk, int, {1, 32}, {1, 74}, {3, 1}, {2, 31}, {2, 33}, {2, 64}, {3, 65}, {2, 1000}, {1, 0},
                 {0, 5})
