/* SPDX-License-Identifier: MIT */
/* sim_named_barrier.h - barriers for some warps of a block: stands in for functions over PTX. */
#ifndef SIM_NAMED_BARRIER_H
#define SIM_NAMED_BARRIER_H

#include "cuda_runtime.h"

/* Comes to barrier `id`, and waits until `threads` threads have. */
void named_barrier_sync(int id, int threads, SIM_AT);

/* Comes to barrier `id` and goes on. */
void named_barrier_arrive(int id, int threads, SIM_AT);

#endif
