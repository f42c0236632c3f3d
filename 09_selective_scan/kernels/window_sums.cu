/* SPDX-License-Identifier: MIT */
/* window_sums.cu - two small kernels of checkpoints.c. window_sums adds up what the blocks of checkpoints_backward.cu
   have left of d_B and d_C in a window, in the order of the blocks. A thread takes four steps of a state:

       parts   (segments, batch, groups, blocks of a group, 16 states, steps of a window)
       sums    (batch, groups, all states, all steps)

   copy_states takes 16 of all states of each row from an array or to one. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "checkpoints.h"
#include "own_steps.cuh"

enum { THREADS = 256 };

template <typename dtype>
static __global__ void window_sums(struct selective_args args, struct selective_windows windows, int window)
{
    const float *const parts = blockIdx.y == 0 ? windows.d_B : windows.d_C;
    dtype *const sums = (dtype *)(blockIdx.y == 0 ? args.d_B : args.d_C);
    const size_t states = args.states, steps = windows.window_steps, groups = args.batch * args.groups;
    const size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 4, line = i / steps, t = i % steps;
    const size_t state = line % states, group = line / states % groups, segment = line / states / groups;
    if (segment >= windows.segments)
        return;
    const size_t of_segment = min(args.seq_len - segment * windows.segment_steps, windows.segment_steps);
    if (window * steps + t >= of_segment)
        return;
    const float *part = parts + ((line / states * windows.per_group) * states + state) * steps + t;
    float sum[4] = {};
#pragma unroll 16 /* so many loads on their way at once */
    for (size_t p = 0; p < windows.per_group; p++, part += states * steps) {
        float more[4];
        get4(part, more);
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[k] += more[k];
    }
    const size_t at = segment * windows.segment_steps + window * steps + t;
    const int left = (int)min(args.seq_len - at, (size_t)4);
    store<dtype, 4>(sums + (group * windows.all_states + windows.first_state + state) * args.seq_len + at, left,
                    left == 4 && args.seq_len % 4 == 0, sum);
}

extern "C" cudaError_t selective_window_sums(const struct selective_args *args, const struct selective_windows *windows,
                                             size_t window, cudaStream_t stream)
{
    const size_t lines = args->batch * args->groups * args->states * windows->segments;
    const size_t blocks = (lines * (windows->window_steps / 4) + THREADS - 1) / THREADS;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct selective_args, struct selective_windows, int) =
        args->dtype == BF16   ? window_sums<__nv_bfloat16>
        : args->dtype == FP16 ? window_sums<__half>
                              : window_sums<float>;
    const cudaLaunchConfig_t launch = launch_of(dim3((unsigned)blocks, 2), THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, *windows, (int)window);
}

static __global__ void copy_states(size_t rows, size_t states, float *to, size_t to_apart, const float *from,
                                   size_t from_apart)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, row = i / states, n = i % states;
    if (row < rows)
        to[row * to_apart + n] = from != NULL ? from[row * from_apart + n] : 0.0f;
}

extern "C" cudaError_t selective_copy_states(size_t rows, size_t states, float *to, size_t to_apart, const float *from,
                                             size_t from_apart, cudaStream_t stream)
{
    const size_t blocks = (rows * states + THREADS - 1) / THREADS;
    if (to == NULL)
        return cudaSuccess;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, copy_states, rows, states, to, to_apart, from, from_apart);
}
