/* SPDX-License-Identifier: MIT */
/* fused_carry.cu - between fused_states.cu and fused_backward.cu, where these take a sequence in several segments: what
   comes into each segment. A segment does the same to a state that comes from before and to a gradient that comes from
   behind: it is multiplied by the product of the coefficients, and something is added.

       segment 0                 segment 1                 segment 2
       h -> product h + end   -> h -> product h + end   -> h            h replaces end
       start + product g <- g <- start + product g <- g <- ...   <- g   g replaces start

   A thread takes a state of a channel through all segments, in one of the two directions. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "workspace.h"

enum { THREADS = 128, AHEAD = 8 }; /* AHEAD: segments whose loads are on their way at once */

/* `carries`: what comes into the sequence, NULL: 0. What comes into a segment replaces what it adds. */
static __global__ void fused_carry(size_t count, int segments, const float *product, const float *first_state,
                                   const float *last_gradient, float *end, float *start)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool back = blockIdx.y == 1;
    const float *const carries = back ? last_gradient : first_state;
    float *const added = back ? start : end;
    if (i >= count)
        return;
    float carry = carries != NULL ? carries[i] : 0.0f;
    for (int first = 0; first < segments; first += AHEAD) {
        float products[AHEAD], sums[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (first + k < segments) {
                const size_t at = (back ? segments - 1 - first - k : first + k) * count + i;
                products[k] = product[at], sums[k] = added[at];
            }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (first + k < segments) {
                added[(back ? segments - 1 - first - k : first + k) * count + i] = carry;
                carry = products[k] * carry + sums[k];
            }
    }
}

extern "C" cudaError_t selective_fused_carry(const struct selective_args *args, const struct selective_parts *parts,
                                             cudaStream_t stream)
{
    const size_t count = args->batch * args->channels * args->states, blocks = (count - 1) / THREADS + 1;
    if (parts->segments == 1)
        return cudaSuccess;
    const cudaLaunchConfig_t launch = launch_of(dim3((unsigned)blocks, 2), THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, fused_carry, count, (int)parts->segments, parts->product, args->initial_state,
                              args->d_final_state, parts->end, parts->start);
}
