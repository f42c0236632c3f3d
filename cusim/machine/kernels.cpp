/* SPDX-License-Identifier: MIT */
/* kernels.cpp - the attributes of kernels, and how many blocks of one fit a multiprocessor. */
#include "kernels.h"

#include <stdlib.h>

#include "../include/cuda_runtime_api.h"
#include "chip.h"
#include "fault.h"
#include "order.h"
#include "sizes.h"

struct sim_kernel_info *sim_find_kernel(const void *kernel)
{
    static struct sim_kernel_info **kernels;
    static size_t count;

    for (size_t i = 0; i < count; i++)
        if (kernels[i]->kernel == kernel)
            return kernels[i];
    struct sim_kernel_info **more = (struct sim_kernel_info **)realloc(kernels, (count + 1) * sizeof(*kernels));
    struct sim_kernel_info *info = (struct sim_kernel_info *)calloc(1, sizeof(*info));
    if (more == NULL || info == NULL)
        sim_fault(NULL, 0, "no memory for another kernel. Free some memory");
    info->kernel = kernel;
    info->max_dynamic = SIM_SHARED;
    info->carveout = cudaSharedmemCarveoutDefault;
    kernels = more;
    return kernels[count++] = info;
}

int sim_know_cluster(const void *kernel, unsigned x, unsigned y, unsigned z)
{
    sim_find_kernel(kernel)->cluster = dim3(x, y, z);
    return 0;
}

dim3 sim_cluster_of(const void *kernel, dim3 asked)
{
    const dim3 own = sim_find_kernel(kernel)->cluster;
    return own.x != 0 && asked.x == 1 && asked.y == 1 && asked.z == 1 ? own : asked;
}

unsigned sim_blocks_per_sm(const struct sim_kernel_info *info, unsigned num_threads, size_t dynamic_shared)
{
    const size_t by_threads = SIM_MAX_THREADS_PER_SM / sim_round_up(num_threads, SIM_WARP);
    const size_t shared = info->static_bytes + dynamic_shared;
    const size_t by_shared = sim_chip.shared_per_sm / (shared + SIM_SHARED_RESERVED);
    const size_t fit = by_threads < by_shared ? by_threads : by_shared;
    const size_t by_number =
        sim_resident_wanted > 0 ? sim_resident_wanted / SIM_MULTIPROCESSORS : SIM_MAX_BLOCKS_PER_SM;

    if (num_threads > SIM_MAX_THREADS || dynamic_shared > info->max_dynamic)
        return 0;
    return (unsigned)(fit < by_number ? fit : by_number);
}
