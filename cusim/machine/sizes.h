/* SPDX-License-Identifier: MIT */
/* sizes.h - the sizes of the simulated device, and of the simulator's tables. */
#ifndef SIM_SIZES_H
#define SIM_SIZES_H

#include <stddef.h>

const unsigned SIM_WARP = 32, SIM_MAX_THREADS = 1024, SIM_MAX_THREADS_PER_SM = 2048, SIM_MAX_BLOCKS_PER_SM = 32;
const unsigned SIM_MULTIPROCESSORS = 2; /* few, so that grids made to fill the device stay small */
const unsigned SIM_MAX_RESIDENT = SIM_MULTIPROCESSORS * SIM_MAX_BLOCKS_PER_SM; /* blocks at once */
const unsigned SIM_MAX_CLUSTER = 16, SIM_PORTABLE_CLUSTER = 8; /* blocks; the first where the kernel is allowed it */
const size_t SIM_SHARED = 48 << 10;                            /* shared memory of a block without asking */
const size_t SIM_SHARED_RESERVED = 1 << 10;                    /* what each block takes of it beside its own */

const size_t SIM_OBSERVED_FACTOR = 6;  /* a byte of device memory takes so many at most, with what observers remember */
const size_t SIM_STACK = 256 << 10;    /* of each thread */
const size_t SIM_HOST_STACK = 8 << 20; /* the most that a program's own has */
const size_t SIM_STACK_GUARD = 64 << 10; /* unreadable, below each stack */
const unsigned SIM_MAX_BARRIERS = 1024;  /* mbarriers of a block */
const unsigned SIM_MAX_SITES = 8192;     /* places in the code that access memory */

static inline size_t sim_round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

#endif
