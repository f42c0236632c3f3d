/* add_up.cu - gradients that belong to many blocks: each block leaves a partial sum in the workspace, and this kernel adds
   them up in a fixed order. So the result has the same bits in each run, and nobody needs an atomic addition.

       parts (outer, count, inner)      |part 0, inner ...|part 1, inner ...|  ...        a thread takes one of `inner`
       sums  (outer, inner)             |inner ...|                                       and goes from part to part */
#include <cuda_runtime.h>

#include "selective_scan.h"

static const int kThreads = 256;

static __global__ void add_up(size_t outer, size_t count, size_t inner, const float *__restrict__ parts,
                              float *__restrict__ sums)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner)
        return;
    const float *const part = parts + i / inner * count * inner + i % inner;
    float sum = 0.0f;
    for (size_t p = 0; p < count; p++)
        sum += part[p * inner];
    sums[i] = sum;
}

static cudaError_t add_up_one(size_t outer, size_t count, size_t inner, const float *parts, float *sums,
                              cudaStream_t stream)
{
    if (sums == NULL)
        return cudaSuccess;
    const size_t blocks = (outer * inner - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    add_up<<<(unsigned)blocks, kThreads, 0, stream>>>(outer, count, inner, parts, sums);
    return cudaGetLastError();
}

extern "C" cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                                        cudaStream_t stream)
{
    const size_t groups = args->batch * args->groups, row = args->states * args->seq_len, batch = args->batch;
    cudaError_t error = add_up_one(groups, parts->per_group, row, parts->d_B, (float *)args->d_B, stream);
    if (error == cudaSuccess)
        error = add_up_one(groups, parts->per_group, row, parts->d_C, (float *)args->d_C, stream);
    if (error == cudaSuccess)
        error = add_up_one(1, batch, args->channels * args->states, parts->d_A, args->d_A, stream);
    if (error == cudaSuccess)
        error = add_up_one(1, batch, args->channels, parts->d_D, args->d_D, stream);
    return error != cudaSuccess ? error
                                : add_up_one(1, batch, args->channels, parts->d_bias, args->d_delta_bias, stream);
}
