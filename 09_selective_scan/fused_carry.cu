/* fused_carry.cu - between fused_states.cu and fused_backward.cu, where these take a sequence in several segments: what
   comes into each segment. A segment does the same to a state that comes from before and to a gradient that comes from
   behind: it is multiplied by the product of the coefficients, and something is added.

       segment 0                 segment 1                 segment 2
       h -> product h + end   -> h -> product h + end   -> h            h replaces end
       start + product g <- g <- start + product g <- g <- ...   <- g   g replaces start

   A thread takes a state of a channel through all segments. */
#include <cuda_runtime.h>

#include "selective_scan.h"

static const int kThreads = 128;

static __global__ void fused_carry(size_t count, int segments, const float *__restrict__ first,
                                   const float *__restrict__ last, const float *__restrict__ product, float *end,
                                   float *start)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float h = first != NULL ? first[i] : 0.0f, g = last != NULL ? last[i] : 0.0f;
#pragma unroll 8 /* so many loads on their way at once */
    for (int segment = 0; segment < segments; segment++) {
        const size_t at = segment * count + i, back = (segments - 1 - segment) * count + i;
        const float added = end[at], added_back = start[back];
        end[at] = h, start[back] = g;
        h = product[at] * h + added;
        g = product[back] * g + added_back;
    }
}

extern "C" cudaError_t selective_fused_carry(const struct selective_args *args, const struct selective_parts *parts,
                                             cudaStream_t stream)
{
    const size_t count = args->batch * args->channels * args->states, blocks = (count - 1) / kThreads + 1;
    if (parts->segments == 1)
        return cudaSuccess;
    fused_carry<<<(unsigned)blocks, kThreads, 0, stream>>>(count, (int)parts->segments, args->initial_state,
                                                           args->d_final_state, parts->product, parts->end,
                                                           parts->start);
    return cudaGetLastError();
}
