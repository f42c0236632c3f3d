/* SPDX-License-Identifier: MIT */
/* 05.3: the recurrence over sequences of any length. */
#include "judge.h"

JUDGE_RECURRENCE(launch_odd, int, {1, 512}, {3, 1024}, {2, 128}, {5, 1}, {7, 2}, {7, 3}, {9, 5}, {1, 7}, {4, 127},
                 {6, 129}, {5, 510}, {5, 511}, {3, 513}, {3, 1023}, {2, 1537}, {0, 5}, {5, 0})
