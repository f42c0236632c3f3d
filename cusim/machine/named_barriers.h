/* SPDX-License-Identifier: MIT */
/* named_barriers.h - barriers that some warps of a block come to. */
#ifndef SIM_NAMED_BARRIERS_H
#define SIM_NAMED_BARRIERS_H

#include "block.h"

const unsigned SIM_NAMED_BARRIERS = 16; /* of a block; the first one is that of __syncthreads */

/* A barrier, and who has come to it since it was last complete. */
struct named_barrier {
    unsigned phase;                             /* how often it was complete */
    unsigned come, threads;                     /* how many have, and how many it expects */
    uint32_t lanes[SIM_MAX_THREADS / SIM_WARP]; /* who has, by warp */
    const char *file;                           /* where the first came */
    int line;
    void *known; /* observers: what those who have come knew */
};

/* A block begins. */
void sim_begin_named_barriers(void);

/* A thread waits at a barrier to which nobody will come any more: says how many are missing, and where others are. */
[[noreturn]] void sim_explain_named_barrier(struct thread *waits);

/* The call at which a thread waits: AT_WARP, AT_BARRIER, and so on. */
const char *sim_waits_at(const struct thread *t);

#endif
