/* SPDX-License-Identifier: MIT */
/* add_up.cu - gradients that belong to many blocks: each block leaves a partial sum in the workspace, and this kernel
   adds them up in a fixed order. So the result has the same bits in each run, and nobody needs an atomic addition.

       parts (outer, count, rows, steps)     |part 0, rows ...|part 1, rows ...|  ...     a thread takes one step, or four,
       sums  (outer, rows, steps)            |rows ...|                                   from part to part

   Of d_B and d_C the parts are those of a window of time, and of as many pieces of a sequence as there are segments:
   each row of the sums gets a piece, and the row behind it in the parts has the next one. One launch does it for all
   gradients. Each has blocks of its own, those of the first one come first. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "launch.h"

enum { THREADS = 256, SUMS = 5 };

struct sums {
    size_t blocks, outer, count, rows, steps;
    size_t segments, segment_steps, first, length; /* a sum's row has `length` steps, and a segment's piece goes to */
                                                   /* `first` of it */
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

/* The sum of `count` parts, `apart` from each other. */
template <typename wide>
static __device__ __forceinline__ wide sum_of(const wide *__restrict__ part, size_t count, size_t apart)
{
    wide sum = {};
#pragma unroll 16 /* so many loads on their way at once, where threads are few */
    for (size_t p = 0; p < count; p++)
        add(&sum, part[p * apart]);
    return sum;
}

/* Where a row of the parts goes on to, from step t on, and how many steps there are `left`. */
static __device__ __forceinline__ size_t place_of_sum(const struct sums *job, size_t row, size_t t, int *left)
{
    const size_t segment = row % job->segments, at = segment * job->segment_steps + job->first + t;
    const size_t end = min(job->length, (segment + 1) * job->segment_steps);
    *left = at < end ? (int)min(end - at, (size_t)4) : 0;
    return row / job->segments * job->length + at;
}

template <typename dtype>
static __global__ void add_up(const struct all_sums all)
{
    size_t block = blockIdx.x;
    int which = 0;
    while (block >= all.of[which].blocks)
        block -= all.of[which++].blocks;
    const struct sums *const job = &all.of[which];
    const size_t each = job->steps % 4 == 0 ? 4 : 1, in_row = job->steps / each, inner = job->rows * in_row;
    const size_t i = block * THREADS + threadIdx.x, outer = i / inner;
    if (outer >= job->outer)
        return;
    int left;
    const size_t to = place_of_sum(job, i / in_row, i % in_row * each, &left), from = outer * job->count * inner;
    float sum[4] = {};
    if (each == 4) {
        const float4 four = sum_of((const float4 *)job->parts + from + i % inner, job->count, inner);
        sum[0] = four.x, sum[1] = four.y, sum[2] = four.z, sum[3] = four.w;
    } else {
        sum[0] = sum_of(job->parts + from + i % inner, job->count, inner);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (k < (int)each && k < left && job->in_dtype)
            ((dtype *)job->sums)[to + k] = (dtype)sum[k];
        else if (k < (int)each && k < left)
            ((float *)job->sums)[to + k] = sum[k];
}

extern "C" cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                                        size_t window, cudaStream_t stream)
{
    const size_t groups = args->batch * args->groups, rows = args->states * parts->segments;
    const size_t times = parts->segments * args->batch, states = args->channels * args->states;
    const size_t steps = parts->window_steps, of_segment = parts->segment_steps, first = window * steps;
    const bool in_parts = parts->d_B != NULL, is_last = window == 0; /* of the launches */
    const size_t channels = args->channels, length = args->seq_len, segments = parts->segments;
    struct all_sums all = {
        {{0, groups, parts->per_group, rows, steps, segments, of_segment, first, length, parts->d_B, NULL, true},
         {0, groups, parts->per_group, rows, steps, segments, of_segment, first, length, parts->d_C, NULL, true},
         {0, 1, times, 1, states, 1, states, 0, states, parts->d_A, NULL, false},
         {0, 1, times, 1, channels, 1, channels, 0, channels, parts->d_D, NULL, false},
         {0, 1, times, 1, channels, 1, channels, 0, channels, parts->d_bias, NULL, false}}};
    void *const sums[SUMS] = {in_parts ? args->d_B : NULL, in_parts ? args->d_C : NULL, is_last ? args->d_A : NULL,
                              is_last ? args->d_D : NULL, is_last ? args->d_delta_bias : NULL};
    size_t blocks = 0;
    for (int i = 0; i < SUMS; i++) {
        const size_t threads = all.of[i].outer * all.of[i].rows * all.of[i].steps / (all.of[i].steps % 4 == 0 ? 4 : 1);
        all.of[i].sums = sums[i];
        all.of[i].blocks = sums[i] != NULL ? (threads + THREADS - 1) / THREADS : 0;
        blocks += all.of[i].blocks;
    }
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    if (blocks == 0)
        return cudaSuccess;
    void (*const kernel)(struct all_sums) = args->dtype == BF16   ? add_up<__nv_bfloat16>
                                            : args->dtype == FP16 ? add_up<__half>
                                                                  : add_up<float>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, all);
}
