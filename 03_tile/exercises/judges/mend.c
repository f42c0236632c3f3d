/* SPDX-License-Identifier: MIT */
/* 03.3: the recurrence along the rows of arrays of shape (num_seqs, seq_len). */
#include "judge.h"

JUDGE_RECURRENCE(launch_mend, int, {1, 64}, {4, 1024}, {1, 1}, {3, 2}, {2, 31}, {2, 33}, {3, 100}, {2, 1000}, {0, 5},
                 {5, 0})
