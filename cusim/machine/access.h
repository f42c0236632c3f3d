/* SPDX-License-Identifier: MIT */
/* access.h - the ways in which an access touches memory, as bits. */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include <stdint.h>

/* Strong ones (atomics, volatile, __ldcg) do not race with each other. */
enum {
    SIM_WRITES = 1,
    SIM_STRONG = 2,
    SIM_ATOMIC = 4,
    SIM_ACQUIRE = 8, /* memory_order_acquire, and so on */
    SIM_RELEASE = 16,
    SIM_BLOCK_SCOPE = 32, /* cuda::thread_scope_block */
    SIM_VOLATILE = 64,
    SIM_STRONGER = 128, /* than acquire and release on the device: memory_order_seq_cst, cuda::thread_scope_system */
    SIM_COUNTS = 256    /* an atomic that adds: it decides nothing about what was read before it */
};

/* An order of memory, by a fence or with an access, is counted; for accesses without one it does nothing. */
void sim_order(unsigned how);

extern uint64_t sim_atomics;        /* atomic operations of this launch, */
extern uint64_t sim_global_atomics; /* and of them in global memory, ever */

#endif
