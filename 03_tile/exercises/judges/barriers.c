/* SPDX-License-Identifier: MIT */
/* 03.5: the recurrence along the rows of arrays of shape (num_seqs, seq_len). */
#include "judge.h"

JUDGE_RECURRENCE(launch_barriers, int, {1, 128}, {1, 1024}, {2, 4096}, {1, 1}, {3, 2}, {2, 33}, {2, 129}, {2, 385},
                 {2, 1000}, {0, 5})
