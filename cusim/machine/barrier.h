/* SPDX-License-Identifier: MIT */
/* barrier.h - the scheduler's questions to barriers. */
#ifndef SIM_BARRIER_H
#define SIM_BARRIER_H

#include "block.h"

extern const char *const sim_barrier_names[]; /* by sim_barrier_kind */

/* All threads of the block that have not returned have arrived. */
void sim_release_barrier(void);

#endif
