/* SPDX-License-Identifier: MIT */
/* 05.4: the recurrence over sequences whose length is a multiple of 4. */
#include "judge.h"

JUDGE_RECURRENCE(launch_stages, int, {1, 512}, {2, 1024}, {1, 4}, {5, 8}, {3, 508}, {3, 516}, {2, 1000}, {2, 1540},
                 {1, 4096}, {0, 8}, {5, 0})
