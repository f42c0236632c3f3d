/* SPDX-License-Identifier: MIT */
/* sim_tma.h - mbarriers and bulk copies of sm_90: stands in for functions over PTX.

   CUDA has no C++ names for these instructions; the names are that header's. A phase of a barrier ends when all its
   arrivals have come and as many bytes were asked for as were announced, but not before a thread waits for it: the
   copies of the phase are done by the first mbarrier_wait that finds them all asked for. Until then they are NaN.
   Boxes are pieces of arrays of three dimensions, which a tensor map describes (tensor_map_of,
   cuTensorMapEncodeTiled). */
#ifndef SIM_TMA_H
#define SIM_TMA_H

#include "cuda_runtime.h"

typedef struct CUtensorMap_st CUtensorMap; /* cuda.h has it */

/* Prepares a barrier for phases of `arrivals` arrivals. */
void mbarrier_init(uint64_t *barrier, unsigned arrivals, SIM_AT);

/* Shows the barriers that this thread initialised to the TMA. */
void mbarrier_init_done(SIM_AT);

/* Orders this thread's ordinary accesses to shared memory before those of the TMA. The simulator finishes each access
   before the next; a store of what was written and not fenced is told. */
void fence_proxy_async(void);

/* Arrives, and announces that `bytes` will be copied in this phase. */
void mbarrier_expect(uint64_t *barrier, unsigned bytes, SIM_AT);

/* Arrives: what this thread has done before is done for those who wait for the phase. */
#define mbarrier_arrive(barrier) mbarrier_expect((barrier), 0)

/* Waits while the phase that has not ended yet has that parity. */
void mbarrier_wait(uint64_t *barrier, unsigned parity, SIM_AT);

/* Copies `bytes` (a multiple of 16) from global to shared memory, both aligned to 16.
   The bytes count at the barrier. */
void tma_load(void *shared, const void *global, unsigned bytes, uint64_t *barrier, SIM_AT);

/* Copies the box of the map whose first element has the coordinates (x, y, z), x the innermost one, to shared memory
   (aligned to 128), row behind row. x times the element's size is a multiple of 16. What lies outside of the array is
   0, and counts at the barrier like the rest. */
void tma_load_box(void *shared, const CUtensorMap *map, int x, int y, int z, uint64_t *barrier, SIM_AT);

/* Copies a box from shared to global memory, at no negative coordinates. What lies outside is not written, but for the
   last 16 bytes of a row, of which all are. It happens when the thread waits: until then nobody may write to its shared
   memory. */
void tma_store_box(const CUtensorMap *map, int x, int y, int z, const void *shared, SIM_AT);

/* What this thread has asked for can be waited for; waits until its stores have read their shared memory. */
void tma_store_commit(SIM_AT);
void tma_store_wait_read(SIM_AT);

/* A hint to the L2 cache changes no result, nor does what is brought there. */
static inline void l2_prefetch(const void *global)
{
    (void)global;
}

static inline uint64_t l2_evict_first(void)
{
    return 0;
}

static inline uint64_t l2_evict_last(void)
{
    return 0;
}

#define tma_load_hint(shared, global, bytes, barrier, hint) ((void)(hint), tma_load(shared, global, bytes, barrier))

#endif
