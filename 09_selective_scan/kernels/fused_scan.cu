/* SPDX-License-Identifier: MIT */
/* fused_scan.cu - a block for each channel, one state after the other, and over time the scan of chapter 04: the plan
   of Mamba's own kernel. Coefficients and inputs live in registers only; what leaves a tile goes on in shared memory,
   one number a state.

   A tile is `elems` consecutive steps a thread. It loads u and delta once; then for one state after the other

       thread 0           thread 1           thread 2
       |a,x a,x a,x a,x|  |a,x a,x a,x a,x|  |a,x a,x ...        a = exp(step A), x = step u B, in registers
          each thread its pair, the warps theirs, the block      the scan of 04_warp_scan/to_block.cu, one barrier a
          state
       y += C h                                                  grows state by state, in registers

   and then out = (y + D u) silu(z). */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "../../04_warp_scan/warp_scan.cuh"
#include "activations.cuh"
#include "selective_check.h"

/* Block b computes channel b of all batches' channels. */
template <typename dtype, int elems>
static __global__ void __launch_bounds__(128) fused_scan_forward(struct selective_args args)
{
    __shared__ struct warp_totals totals[2];           /* of this state, and of the one before */
    __shared__ float carries[2][SELECTIVE_MAX_STATES]; /* what comes into this tile, and into the next */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const size_t batch = blockIdx.x / args.channels, channel = blockIdx.x % args.channels;
    const size_t group = channel / (args.channels / args.groups);
    const size_t row = blockIdx.x * args.seq_len, first_state = blockIdx.x * args.states;
    const dtype *const B = (const dtype *)args.B + (batch * args.groups + group) * args.states * args.seq_len;
    const dtype *const C = (const dtype *)args.C + (batch * args.groups + group) * args.states * args.seq_len;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    int buffer = 0, tile = 0; /* which of the totals, which of the carries */

    for (int n = threadIdx.x; n < (int)args.states; n += blockDim.x)
        carries[0][n] = args.initial_state != NULL ? args.initial_state[first_state + n] : 0.0f;
    __syncthreads();
    for (size_t base = 0; base < args.seq_len; base += (size_t)elems * blockDim.x, tile ^= 1) {
        const size_t begin = base + (size_t)elems * threadIdx.x; /* this thread's first step */
        const int count = begin >= args.seq_len          ? 0
                          : args.seq_len - begin < elems ? (int)(args.seq_len - begin)
                                                         : elems;
        float step[elems], u[elems], y[elems];
#pragma unroll
        for (int i = 0; i < elems; i++) {
            u[i] = i < count ? (float)((const dtype *)args.u)[row + begin + i] : 0.0f;
            step[i] = 0.0f; /* behind the end: a = 1, x = 0 */
            if (i < count)
                step[i] = step_of((float)((const dtype *)args.delta)[row + begin + i] + bias, args.delta_softplus);
            y[i] = D * u[i];
        }

        for (size_t n = 0; n < args.states; n++, buffer ^= 1) {
            const float A = args.A[channel * args.states + n] * LOG2_E;
            const size_t at = n * args.seq_len + begin; /* in B and C */
            float x[elems], a[elems];

            /* [scan] The thread: a becomes the product, x the sum so far. */
#pragma unroll
            for (int i = 0; i < elems; i++) {
                a[i] = fast_exp2(step[i] * A);
                x[i] = i < count ? step[i] * u[i] * (float)B[at + i] : 0.0f;
                if (i > 0) {
                    x[i] = x[i - 1] * a[i] + x[i];
                    a[i] = a[i - 1] * a[i];
                }
            }
            if (count < elems) { /* behind the end nothing changes; exp(0 A) is NaN for an infinite A */
#pragma unroll
                for (int i = 0; i < elems; i++)
                    if (i >= count)
                        a[i] = i > 0 ? a[i - 1] : 1.0f, x[i] = i > 0 ? x[i - 1] : 0.0f;
            }

            /* The warp, and the warps of the block. */
            const struct pair mine = {a[elems - 1], x[elems - 1]};
            const struct pair up_to_here = warp_scan(mine, lane), before = lane_before(up_to_here, lane);
            if (lane == 31)
                totals[buffer].product[warp] = up_to_here.product, totals[buffer].sum[warp] = up_to_here.sum;
            __syncthreads();
            const struct pair up_to_warp = totals_scan(&totals[buffer], num_warps, lane);

            /* [carry] What comes into the tile, into the warp, into the thread; and what leaves the tile. */
            const float carry = carries[tile][n];
            const float leaves = carry * up_to_warp.product + up_to_warp.sum; /* lane w: what leaves warp w */
            const float from_warp = __shfl_sync(ALL_LANES, leaves, warp > 0 ? warp - 1 : 0);
            const float into = (warp > 0 ? from_warp : carry) * before.product + before.sum;
            if (warp == 0 && lane == num_warps - 1)
                carries[tile ^ 1][n] = leaves;
#pragma unroll
            for (int i = 0; i < elems; i++)
                if (i < count)
                    y[i] += (float)C[at + i] * (into * a[i] + x[i]);
        }

#pragma unroll
        for (int i = 0; i < elems; i++)
            if (i < count) {
                const size_t at = row + begin + i;
                const float gate = args.z != NULL ? silu((float)((const dtype *)args.z)[at]) : 1.0f;
                ((dtype *)args.out)[at] = (dtype)(y[i] * gate);
            }
    }
    __syncthreads();
    for (int n = threadIdx.x; n < (int)args.states && args.final_state != NULL; n += blockDim.x)
        args.final_state[first_state + n] = carries[tile][n];
}

/* As few threads as hold the row, up to 128; then more steps a thread. */
template <typename dtype>
static cudaError_t launch(const struct selective_args *args, unsigned blocks, cudaStream_t stream)
{
    void (*const kernel)(struct selective_args) =
        args->seq_len <= 512 ? fused_scan_forward<dtype, 4> : fused_scan_forward<dtype, 16>;
    const cudaLaunchConfig_t launch = launch_of(blocks, args->seq_len <= 128 ? 32 : 128, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args);
}

extern "C" cudaError_t selective_fused_scan_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    const size_t blocks = args->batch * args->channels;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, (unsigned)blocks, stream)
           : args->dtype == FP16 ? launch<__half>(args, (unsigned)blocks, stream)
                                 : launch<float>(args, (unsigned)blocks, stream);
}
