/* SPDX-License-Identifier: MIT */
/* sim_barrier.h - the barrier in shared memory that cuda::barrier and cuda::pipeline are made of. */
#ifndef SIM_BARRIER_WORD_H
#define SIM_BARRIER_WORD_H

#include "cuda_runtime.h"

/* Prepares it for phases of `arrivals` arrivals. */
void sim_barrier_init(uint64_t *barrier, unsigned arrivals, SIM_AT);

/* Arrives as many times; drop: the later phases have one arrival less. Returns the parity of the phase. */
unsigned sim_barrier_arrive(uint64_t *barrier, unsigned count, bool drop, SIM_AT);

/* Waits while the phase that has not ended yet has that parity. */
void sim_barrier_wait(uint64_t *barrier, unsigned parity, SIM_AT);

/* Copies from global to shared memory. It is done when the phase ends, and a phase with copies not before somebody waits. */
void sim_barrier_copy(void *shared, const void *global, size_t bytes, uint64_t *barrier, SIM_AT);

#endif
