/* add_up.cu - gradients that belong to many blocks: each block leaves a partial sum in the workspace, and this kernel
   adds them up in a fixed order. So the result has the same bits in each run, and nobody needs an atomic addition.

       parts (outer, count, inner)      |part 0, inner ...|part 1, inner ...|  ...        a thread takes one of `inner`
       sums  (outer, inner)             |inner ...|                                       and goes from part to part */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "selective_scan.h"

static const int kThreads = 256;

/* Takes one or two gradients of the same shape, a row of blocks each. */
template <typename stored>
static __global__ void add_up(size_t outer, size_t count, size_t inner, const float *__restrict__ first_parts,
                              const float *__restrict__ second_parts, stored *first_sums, stored *second_sums)
{
    const float *const parts = blockIdx.y == 0 ? first_parts : second_parts;
    stored *const sums = blockIdx.y == 0 ? first_sums : second_sums;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner || sums == NULL)
        return;
    const float *const part = parts + i / inner * count * inner + i % inner;
    float sum = 0.0f;
#pragma unroll 16 /* so many loads on their way at once, where threads are few */
    for (size_t p = 0; p < count; p++)
        sum += part[p * inner];
    sums[i] = (stored)sum;
}

template <typename stored>
static cudaError_t add_up_two(size_t outer, size_t count, size_t inner, const float *first_parts,
                              const float *second_parts, void *first_sums, void *second_sums, cudaStream_t stream)
{
    const size_t blocks = (outer * inner - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    if (first_sums == NULL && second_sums == NULL)
        return cudaSuccess;
    add_up<<<dim3((unsigned)blocks, second_sums != NULL ? 2 : 1), kThreads, 0, stream>>>(
        outer, count, inner, first_parts, second_parts, (stored *)first_sums, (stored *)second_sums);
    return cudaGetLastError();
}

extern "C" cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                                        cudaStream_t stream)
{
    const size_t groups = args->batch * args->groups, row = args->states * args->seq_len;
    const size_t times = parts->segments * args->batch;
    cudaError_t (*const of_groups)(size_t, size_t, size_t, const float *, const float *, void *, void *, cudaStream_t) =
        args->storage == BF16   ? add_up_two<__nv_bfloat16>
        : args->storage == FP16 ? add_up_two<__half>
                                : add_up_two<float>;
    cudaError_t error = of_groups(groups, parts->per_group, row, parts->d_B, parts->d_C, args->d_B, args->d_C, stream);
    if (error == cudaSuccess)
        error = add_up_two<float>(1, times, args->channels * args->states, parts->d_A, NULL, args->d_A, NULL, stream);
    return error != cudaSuccess ? error
                                : add_up_two<float>(1, times, args->channels, parts->d_D, parts->d_bias, args->d_D,
                                                    args->d_delta_bias, stream);
}
