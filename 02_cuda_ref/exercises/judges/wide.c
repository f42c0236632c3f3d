/* SPDX-License-Identifier: MIT */
/* 02.5: the recurrence along the rows of arrays of shape (num_seqs, seq_len). */
#include "judge.h"

JUDGE_RECURRENCE(launch_wide, size_t, {1, 4}, {3, 16}, {128, 64}, {1, 1}, {5, 2}, {5, 3}, {129, 5}, {3, 1001},
                 {3, 1002}, {3, 1000}, {0, 4})
