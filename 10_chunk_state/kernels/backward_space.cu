/* SPDX-License-Identifier: MIT */
/* backward_space.cu - see backward_space.h */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"

static size_t num_decays(const struct chunk_state_args *args)
{
    return args->batch * args->chunks * args->heads * args->decays;
}

/* Bytes of the states, up to a multiple of 16. */
static size_t states_bytes(const struct chunk_state_args *args, int stretch)
{
    const size_t of_one = args->batch * args->heads * args->dk * args->dv;
    if (args->states != NULL || args->chunks == 0)
        return 0;
    const size_t bytes = stretch > 1 ? (args->chunks - 1) / stretch * of_one * sizeof(float)
                                     : args->chunks * of_one * dtype_bytes(args->dtype);
    return (bytes + 15) / 16 * 16;
}

extern "C" size_t backward_workspace(const struct chunk_state_args *args, int stretch, size_t parts)
{
    return states_bytes(args, stretch) + (parts > 1 ? num_decays(args) * parts * sizeof(float) : 0);
}

extern "C" cudaError_t backward_space(const struct chunk_state_args *args, int stretch, size_t parts,
                                      chunk_state_launcher *forward, cudaStream_t stream, struct backward_space *space)
{
    const size_t needed = backward_workspace(args, stretch, parts), of_states = states_bytes(args, stretch);
    if (needed != 0 && (args->workspace == NULL || args->workspace_size < needed))
        return cudaErrorInvalidValue;
    space->again = args->states == NULL && stretch > 1;
    space->states = args->states != NULL ? args->states : space->again ? args->h_local : args->workspace;
    space->initial_state = space->again ? args->initial_state : NULL;
    space->checkpoints = space->again ? (float *)args->workspace : NULL;
    space->d_gamma = parts > 1 ? (float *)((char *)args->workspace + of_states) : args->d_gamma;
    space->parts = parts;
    if (of_states == 0)
        return cudaSuccess;
    struct chunk_state_args before = *args;
    before.exclusive = !space->again;
    before.checkpoints = space->checkpoints;
    before.h_out = args->workspace;
    before.final_state = NULL;
    before.workspace = NULL; /* which is taken */
    before.workspace_size = 0;
    before.config = (struct launch_config){0, 0, 0};
    return forward(&before, stream);
}

/* Thread i adds up the parts of decay i. */
static __global__ void add_parts(size_t count, size_t parts, const float *__restrict__ sums,
                                 float *__restrict__ d_gamma)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float sum = sums[i * parts];
    for (size_t part = 1; part < parts; part++)
        sum += sums[i * parts + part];
    d_gamma[i] = sum;
}

extern "C" cudaError_t backward_add_parts(const struct chunk_state_args *args, const struct backward_space *space,
                                          cudaStream_t stream)
{
    const size_t count = num_decays(args), blocks = (count + 255) / 256;
    if (space->parts == 1)
        return cudaSuccess;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 256, 0, stream);
    return cudaLaunchKernelEx(&launch, add_parts, count, space->parts, space->d_gamma, args->d_gamma);
}
