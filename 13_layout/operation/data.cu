/* SPDX-License-Identifier: MIT */
/* data.cu - see data.h */
#include <cuda_runtime.h>

#include "oracle.h"
#include "step_data.h"

static const int kThreads = 128;

static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

/* A grid-stride loop. */
static __global__ void fill(struct layout_spec spec, int array, enum dtype dtype, void *values, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        if (array == L_STARTS)
            ((int *)values)[i] = (int)layout_start(&spec, i);
        else
            dtype_set(dtype, values, i, layout_value(&spec, array, i));
    }
}

extern "C" cudaError_t layout_fill_array(const struct layout_spec *spec, int array, enum dtype dtype, void *values,
                                         size_t count)
{
    if (count == 0)
        return cudaSuccess;
    fill<<<num_blocks((count + 3) / 4), kThreads>>>(*spec, array, dtype, values, count);
    return cudaGetLastError();
}

static __device__ void report(const struct finding *mine, struct finding *finding)
{
    /* errors are not negative, so their bits order like integers */
    atomicMax((unsigned long long *)&finding->max_error, (unsigned long long)__double_as_longlong(mine->max_error));
    if (mine->num_bad != 0) {
        atomicAdd(&finding->num_bad, mine->num_bad);
        atomicMin(&finding->first_bad, mine->first_bad);
    }
}

/* One thread walks one channel of one sequence. */
static __global__ void check(struct layout_args args, bool backward, int levels, struct finding *finding)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    struct finding mine = FINDING_NOTHING;
    if (number >= oracle_count(&args))
        return;
    oracle_check(&args, backward, levels, number, &mine);
    report(&mine, finding);
}

extern "C" cudaError_t layout_device_check(const struct layout_args *args, bool backward, int levels,
                                           struct finding *finding)
{
    if (oracle_count(args) == 0)
        return cudaSuccess;
    check<<<num_blocks(oracle_count(args)), kThreads>>>(*args, backward, levels, finding);
    return cudaGetLastError();
}

/* ---- the step ---- */

static __global__ void fill_step(struct step_spec spec, int array, enum dtype dtype, void *values, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        dtype_set(dtype, values, i, step_value(&spec, array, i));
}

extern "C" cudaError_t step_fill_array(const struct step_spec *spec, int array, enum dtype dtype, void *values,
                                       size_t count)
{
    if (count == 0)
        return cudaSuccess;
    fill_step<<<num_blocks((count + 3) / 4), kThreads>>>(*spec, array, dtype, values, count);
    return cudaGetLastError();
}

/* One thread looks at one channel of a layer. */
static __global__ void check_step(struct step_args args, size_t count, struct finding *finding)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    struct finding mine = FINDING_NOTHING;
    if (number >= count)
        return;
    step_check(&args, number, &mine);
    report(&mine, finding);
}

extern "C" cudaError_t step_device_check(const struct step_args *args, size_t num_layers, struct finding *finding)
{
    if (num_layers * args->channels == 0)
        return cudaSuccess;
    check_step<<<num_blocks(num_layers * args->channels), kThreads>>>(*args, num_layers * args->channels, finding);
    return cudaGetLastError();
}
