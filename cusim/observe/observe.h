/* SPDX-License-Identifier: MIT */
/* observe.h - observes every load and store of a kernel. The parts that let threads run and wait call these functions.
   `thread`: its number in its block; `chain`: the thread's count of steps (block.h). */
#ifndef SIM_OBSERVE_H
#define SIM_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include "../counts.h"

/* How an access touches memory. Strong ones (atomics, volatile, __ldcg) do not race with each other. */
enum {
    SIM_WRITES = 1,
    SIM_STRONG = 2,
    SIM_ATOMIC = 4,
    SIM_ACQUIRE = 8, /* memory_order_acquire, and so on */
    SIM_RELEASE = 16,
    SIM_BLOCK_SCOPE = 32, /* cuda::thread_scope_block */
    SIM_VOLATILE = 64,
    SIM_STRONGER = 128 /* than acquire and release on the device: memory_order_seq_cst, cuda::thread_scope_system */
};

void sim_observe_launch(const void *arguments, size_t size, unsigned num_threads);
void sim_observe_turn(unsigned thread, uint64_t *chain); /* it goes on */
void sim_observe_switch(void);                           /* another block runs */
void sim_observe_pass(void);                             /* each lane of a warp that could run has had its turn */
void sim_observe_launch_end(struct sim_counts *counts);  /* adds what the launch has cost */

uint64_t sim_fills(void); /* sectors that L1 has fetched, ever */

/* Number of a place in the code, and back. */
unsigned sim_site(const void *pc);
const void *sim_site_pc(unsigned site);

/* A copy sets out: checks its source like a load, counts both ends. `warp`: part of a request of the warp, else of the
   the TMA. */
void sim_observe_copy(unsigned site, const void *shared, size_t shared_size, const void *global, size_t size,
                      bool warp);

/* An order of memory, by a fence or with an access; for accesses without one it does nothing. */
void sim_observe_order(unsigned how);

/* Whether host memory, or a part of it, is kept from watched code (sim_protect). */
bool sim_is_private(const void *start, size_t size);

/* Whether races are looked for, and requests counted: not with CUSIM_CHECKS=bounds or none, where addresses alone are
   judged. */
extern bool sim_watches;

extern const void *sim_last_pc;     /* where memory was last accessed */
extern uint64_t sim_atomics;        /* how many there were in this launch, */
extern uint64_t sim_global_atomics; /* and of them in global memory, ever */

#endif
