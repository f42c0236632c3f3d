/* SPDX-License-Identifier: MIT */
/* 05.7: the recurrence over sequences of any length, moved with few bytes. */
#include "judge.h"

JUDGE_RECURRENCE(launch_fewer, int, {1, 512}, {3, 1024}, {2, 128}, {5, 1}, {7, 2}, {7, 3}, {9, 5}, {1, 7}, {4, 127},
                 {6, 129}, {5, 510}, {5, 511}, {3, 513}, {3, 1023}, {2, 1537}, {40, 17}, {17, 33}, {9, 257}, {0, 5},
                 {5, 0})
