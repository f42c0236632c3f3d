/* SPDX-License-Identifier: MIT */
/* warp.h - the scheduler's questions to warp collectives. */
#ifndef SIM_WARP_H
#define SIM_WARP_H

#include "block.h"

extern const char *const sim_warp_names[]; /* by sim_warp_kind */

/* No thread of the block can run: faults if lanes wait in a collective for one that does not come. `in_part`: others
   wait at an mbarrier, so a lane that waits elsewhere is not the cause. */
void sim_explain_warp(bool in_part);

/* No lane of a warp can go on: those that wait to learn who came with them do. Returns whether there were any. */
bool sim_gather_lanes(unsigned warp);

/* A thread has returned: the lanes that waited for it alone go on. */
void sim_lane_ends(const struct thread *t);

/* The lane that a shuffle's lane reads from. */
unsigned sim_source_lane(const struct thread *t, unsigned lane);

#endif
