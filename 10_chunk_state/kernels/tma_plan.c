/* SPDX-License-Identifier: MIT */
/* tma_plan.c - see tma_plan.h */
#include "tma_plan.h"

struct slicing slicing_of(const struct flat_state *flat, unsigned most)
{
    struct slicing slicing = {0};
    if (flat->columns == 0 || flat->columns > 0x7FFFFFFF)
        return slicing;
    slicing.columns = (unsigned)flat->columns;
    slicing.per_decay = (unsigned)flat->per_decay;
    if (slicing.per_decay <= most) {
        slicing.parts = 1;
        slicing.decays = most / slicing.per_decay;
        slicing.width = slicing.decays * slicing.per_decay;
        slicing.slices = (slicing.columns - 1) / slicing.width + 1;
    } else {
        const unsigned least = (slicing.per_decay - 1) / most + 1;
        slicing.width = ((slicing.per_decay - 1) / least / TMA_COLUMNS_OF + 1) * TMA_COLUMNS_OF;
        slicing.parts = (slicing.per_decay - 1) / slicing.width + 1;
        slicing.decays = 1;
        slicing.slices = (unsigned)flat->decays * slicing.parts;
    }
    return slicing;
}

/* How many stages fit, and what lies where in one. */
static int stages_fit(const struct chunk_state_args *args, int steps, int num_arrays, size_t own_bytes, int more,
                      size_t room, struct tma_plan *plan)
{
    plan->slicing = slicing_of(&plan->flat, (unsigned)plan->threads * (unsigned)(16 / dtype_bytes(args->dtype)));
    if (plan->slicing.slices == 0)
        return 0;
    const size_t own = own_bytes * ((size_t)plan->threads + (size_t)more);
    plan->tile_bytes = (size_t)steps * plan->slicing.width * dtype_bytes(args->dtype);
    plan->stage_bytes = plan->tile_bytes * (size_t)num_arrays;
    plan->decays_bytes = (size_t)steps * plan->slicing.decays * sizeof(float);
    const size_t beside = own + plan->decays_bytes;
    const size_t fit = room > beside ? (room - beside) / (plan->stage_bytes + plan->decays_bytes) : 0;
    return fit < TMA_MAX_STAGES ? (int)fit : TMA_MAX_STAGES;
}

cudaError_t tma_plan_of(const struct chunk_state_args *args, const void *kernel, int threads, int stages, int steps,
                        int num_arrays, size_t own_bytes, int more, struct tma_plan *plan)
{
    struct gpu_info gpu;
    int resident = 0;
    cudaError_t error = gpu_info_read(&gpu);
    if (error != cudaSuccess)
        return error;
    if (gpu.arch < 90)
        return cudaErrorNotSupported;

    plan->flat = flat_state_of(args);
    plan->threads = args->config.threads != 0 ? args->config.threads : threads;
    if (args->dv % TMA_COLUMNS_OF != 0 || plan->threads > TMA_MAX_THREADS || plan->threads % 32 != 0 ||
        plan->threads < 32 || args->config.stages > TMA_MAX_STAGES)
        return cudaErrorInvalidValue;
    const size_t room = gpu.shared_limit - 1024; /* these kernels have a few bytes more of their own */
    while (stages_fit(args, steps, num_arrays, own_bytes, more, room, plan) < 2 && args->config.threads == 0 &&
           plan->threads > 32)
        plan->threads /= 2;
    const int fit = stages_fit(args, steps, num_arrays, own_bytes, more, room, plan);
    plan->stages = args->config.stages != 0 ? args->config.stages : stages < fit ? stages : fit;
    if (plan->slicing.slices == 0 || plan->flat.batch * plan->slicing.slices > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    plan->items = (unsigned)(plan->flat.batch * plan->slicing.slices);
    plan->own_at = (size_t)plan->stages * (plan->stage_bytes + plan->decays_bytes) + plan->decays_bytes;
    plan->shared = plan->own_at + own_bytes * ((size_t)plan->threads + (size_t)more);
    if (plan->stages < 2 || plan->stages > fit)
        return cudaErrorNotSupported;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, plan->threads, plan->shared);
    plan->blocks = (unsigned)(resident * gpu.multiprocessors);
    return error == cudaSuccess && resident == 0 ? cudaErrorNotSupported : error;
}
