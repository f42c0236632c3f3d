/* SPDX-License-Identifier: MIT */
/* add_up.cu - gradients that belong to many blocks: each block leaves a partial sum in the workspace, and this kernel
   adds them up in a fixed order. So the result has the same bits in each run, and nobody needs an atomic addition.

       parts (outer, count, inner)      |part 0, inner ...|part 1, inner ...|  ...        a thread takes one of `inner`,
       sums  (outer, inner)             |inner ...|                                       or four, from part to part

   One launch does it for all gradients. Each has blocks of its own, those of the first one come first. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "workspace.h"

enum { THREADS = 256, SUMS = 5 };

struct sums {
    size_t blocks, outer, count, inner;
    const float *parts;
    void *sums;    /* NULL: nobody wants them */
    bool in_dtype; /* whether they have the arrays' type, else they are float32 */
};

struct all_sums {
    struct sums of[SUMS];
};

static __device__ __forceinline__ void add(float *sum, float more)
{
    *sum += more;
}

static __device__ __forceinline__ void add(float4 *sum, float4 more)
{
    sum->x += more.x, sum->y += more.y, sum->z += more.z, sum->w += more.w;
}

/* The sum of `count` parts, `inner` apart. */
template <typename wide>
static __device__ __forceinline__ wide sum_of(const wide *__restrict__ part, size_t count, size_t inner)
{
    wide sum = {};
#pragma unroll 16 /* so many loads on their way at once, where threads are few */
    for (size_t p = 0; p < count; p++)
        add(&sum, part[p * inner]);
    return sum;
}

template <typename dtype>
static __global__ void add_up(const struct all_sums all)
{
    size_t block = blockIdx.x;
    int which = 0;
    while (block >= all.of[which].blocks)
        block -= all.of[which++].blocks;
    const struct sums *const job = &all.of[which];
    const size_t i = block * THREADS + threadIdx.x, count = job->count;
    if (job->inner % 4 == 0) {
        const size_t inner = job->inner / 4;
        if (i >= job->outer * inner)
            return;
        const float4 sum = sum_of((const float4 *)job->parts + i / inner * count * inner + i % inner, count, inner);
        if (job->in_dtype) {
            dtype *const to = (dtype *)job->sums + 4 * i;
            to[0] = (dtype)sum.x, to[1] = (dtype)sum.y, to[2] = (dtype)sum.z, to[3] = (dtype)sum.w;
        } else {
            ((float4 *)job->sums)[i] = sum;
        }
    } else if (i < job->outer * job->inner) {
        const float sum = sum_of(job->parts + i / job->inner * count * job->inner + i % job->inner, count, job->inner);
        if (job->in_dtype)
            ((dtype *)job->sums)[i] = (dtype)sum;
        else
            ((float *)job->sums)[i] = sum;
    }
}

extern "C" cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                                        cudaStream_t stream)
{
    const size_t batches = args->starts != NULL ? 1 : args->batch; /* packed sequences have steps of their own */
    const size_t groups = batches * args->groups, row = args->states * args->seq_len;
    const size_t times = parts->segments * args->batch;
    struct all_sums all = {{{0, groups, parts->per_group, row, parts->d_B, args->d_B, true},
                            {0, groups, parts->per_group, row, parts->d_C, args->d_C, true},
                            {0, 1, times, args->channels * args->states, parts->d_A, args->d_A, false},
                            {0, 1, times, args->channels, parts->d_D, args->d_D, false},
                            {0, 1, times, args->channels, parts->d_bias, args->d_delta_bias, false}}};
    size_t blocks = 0;
    for (int i = 0; i < SUMS; i++) {
        const size_t threads = all.of[i].outer * all.of[i].inner / (all.of[i].inner % 4 == 0 ? 4 : 1);
        all.of[i].blocks = all.of[i].sums != NULL ? (threads + THREADS - 1) / THREADS : 0;
        blocks += all.of[i].blocks;
    }
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct all_sums) = args->dtype == BF16   ? add_up<__nv_bfloat16>
                                            : args->dtype == FP16 ? add_up<__half>
                                                                  : add_up<float>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, all);
}
