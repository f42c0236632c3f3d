/* SPDX-License-Identifier: MIT */
/* block.cpp - the launch, the block and the thread that run now. */
#include "block.h"

#include "access.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
int sim_running_device;

struct block *sim_block, *sim_slots[SIM_MAX_RESIDENT];
struct thread *sim_current;
const sim_config *sim_launched;
struct sim_kernel_info *sim_info;
unsigned sim_num_threads;
struct sim_counts sim_counts;
uint64_t sim_atomics, sim_global_atomics;

void sim_add_counts(struct sim_counts *to, const struct sim_counts *from)
{
    const uint64_t chain = to->chain > from->chain ? to->chain : from->chain;
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
        t[i] += f[i];
    to->chain = chain;
}
