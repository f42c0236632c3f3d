/* add_up.cu - gradients that belong to many blocks: each block leaves a partial sum in the workspace, and this kernel
   adds them up in a fixed order. So the result has the same bits in each run, and nobody needs an atomic addition.

       parts (outer, count, inner)      |part 0, inner ...|part 1, inner ...|  ...        a thread takes one of `inner`
       sums  (outer, inner)             |inner ...|                                       and goes from part to part */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "selective_scan.h"

static const int kThreads = 256;

template <typename stored>
static __global__ void add_up(size_t outer, size_t count, size_t inner, const float *__restrict__ parts,
                              stored *__restrict__ sums)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner)
        return;
    const float *const part = parts + i / inner * count * inner + i % inner;
    float sum = 0.0f;
#pragma unroll 16 /* so many loads on their way at once, where threads are few */
    for (size_t p = 0; p < count; p++)
        sum += part[p * inner];
    sums[i] = (stored)sum;
}

static cudaError_t add_up_one(enum storage storage, size_t outer, size_t count, size_t inner, const float *parts,
                              void *sums, cudaStream_t stream)
{
    if (sums == NULL)
        return cudaSuccess;
    const size_t blocks = (outer * inner - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    if (storage == BF16)
        add_up<<<(unsigned)blocks, kThreads, 0, stream>>>(outer, count, inner, parts, (__nv_bfloat16 *)sums);
    else if (storage == FP16)
        add_up<<<(unsigned)blocks, kThreads, 0, stream>>>(outer, count, inner, parts, (__half *)sums);
    else
        add_up<<<(unsigned)blocks, kThreads, 0, stream>>>(outer, count, inner, parts, (float *)sums);
    return cudaGetLastError();
}

extern "C" cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                                        cudaStream_t stream)
{
    const size_t groups = args->batch * args->groups, row = args->states * args->seq_len, batch = args->batch;
    cudaError_t error = add_up_one(args->storage, groups, parts->per_group, row, parts->d_B, args->d_B, stream);
    if (error == cudaSuccess)
        error = add_up_one(args->storage, groups, parts->per_group, row, parts->d_C, args->d_C, stream);
    if (error == cudaSuccess)
        error = add_up_one(FLOAT32, 1, batch, args->channels * args->states, parts->d_A, args->d_A, stream);
    if (error == cudaSuccess)
        error = add_up_one(FLOAT32, 1, batch, args->channels, parts->d_D, args->d_D, stream);
    return error != cudaSuccess
               ? error
               : add_up_one(FLOAT32, 1, batch, args->channels, parts->d_bias, args->d_delta_bias, stream);
}
