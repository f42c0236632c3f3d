/* SPDX-License-Identifier: MIT */
/* shared.h - the scheduler's questions to shared memory. */
#ifndef SIM_SHARED_H
#define SIM_SHARED_H

/* The block has ended: faults if it wrote around its shared memory, which then belongs to nobody. */
void sim_end_shared(void);

/* The block ends: faults if others of its cluster may touch its shared memory later. */
void sim_leave_shared(void);

/* What a block of the running block's cluster has, in its own shared memory, for a variable of the running block. */
struct block;
struct sim_region;
struct sim_region *sim_shared_of(struct block *other, const struct sim_region *own);

/* The block goes on, or another one does, which must not touch the shared memory of its cluster. */
void sim_switch_shared(bool runs);

#endif
