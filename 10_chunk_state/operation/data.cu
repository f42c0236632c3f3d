/* SPDX-License-Identifier: MIT */
/* data.cu - see data.h */
#include <cuda_runtime.h>

#include "oracle.h"

static const int kThreads = 128;

static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

/* A grid-stride loop. */
static __global__ void fill(struct chunk_spec spec, int array, enum dtype dtype, void *values, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        if (array == STARTS)
            ((int *)values)[i] = (int)chunk_start(&spec, i);
        else
            dtype_set(dtype, values, i, chunk_value(&spec, array, i));
}

extern "C" cudaError_t chunk_fill_array(const struct chunk_spec *spec, int array, enum dtype dtype, void *values,
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

/* One thread walks one column of one head. */
static __global__ void check_columns(struct chunk_oracle oracle, struct finding *finding)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    struct finding mine = FINDING_NOTHING;
    if (number >= oracle.count)
        return;
    chunk_check_column(&oracle, number, &mine);
    report(&mine, finding);
}

static __global__ void check_sums(struct chunk_oracle oracle, size_t count, struct finding *finding)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    struct finding mine = FINDING_NOTHING;
    if (i >= count)
        return;
    chunk_check_sum(&oracle, i, &mine);
    report(&mine, finding);
}

/* It takes memory for the time of the check. */
extern "C" cudaError_t chunk_device_check(const struct chunk_state_args *args, bool backward, int levels,
                                          struct finding *finding)
{
    struct chunk_oracle oracle = chunk_oracle_of(args, backward, levels);
    const size_t sums = backward ? chunk_num_sums(args) : 0, slots = chunk_oracle_slots(args, backward) * oracle.count;
    if (slots == 0)
        return cudaSuccess;
    cudaError_t error = cudaMalloc((void **)&oracle.work, (slots + 2 * sums) * sizeof(double));
    if (error != cudaSuccess)
        return error;
    oracle.sum = oracle.work + slots;
    oracle.bound = oracle.sum + sums;
    error = cudaMemsetAsync(oracle.sum, 0, 2 * sums * sizeof(double), NULL);
    if (error == cudaSuccess)
        check_columns<<<num_blocks(oracle.count), kThreads>>>(oracle, finding);
    if (error == cudaSuccess && sums != 0)
        check_sums<<<num_blocks(sums), kThreads>>>(oracle, sums, finding);
    if (error == cudaSuccess)
        error = cudaGetLastError();
    const cudaError_t freed = cudaFree(oracle.work); /* waits */
    return error != cudaSuccess ? error : freed;
}
