/* sim.h - what the simulator counts. All counts run from the program's start or the last reset. */
#ifndef SIM_H
#define SIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_counts {
    uint64_t launches;      /* kernels launched */
    uint64_t blocks;        /* blocks run */
    uint64_t threads;       /* threads run */
    uint64_t barriers;      /* __syncthreads and its kin: one for the whole block */
    uint64_t warp_barriers; /* __syncwarp: one for all lanes that take part */
    uint64_t shuffles;      /* __shfl_*_sync: one for all lanes that take part, whatever the width */
    uint64_t votes;         /* ballot, all, any, match, reduce: one for all lanes that take part */
    uint64_t atomics;       /* atomic operations: one for each thread */
    uint64_t async_copies;  /* __pipeline_memcpy_async: one for each thread */
    uint64_t bulk_copies;   /* bulk_load: one for each call */
};

struct sim_counts sim_get_counts(void);
void sim_reset_counts(void);

#ifdef __cplusplus
}
#endif
#endif
