/* SPDX-License-Identifier: MIT */
/* lane_sums.cuh - sums over the lanes of a channel, many at once, for all kernels of chapter 09 that give a channel
   several lanes: a reduce-scatter. Each lane comes with a term of all sums, and leaves with some of the sums. */
#ifndef LANE_SUMS_CUH
#define LANE_SUMS_CUH

/* y[0 .. 2 half) of this lane and of the one whose number differs in `bit`: each keeps the sums of one half. */
template <int half>
static __device__ __forceinline__ void fold_once(float *y, int lane, int bit)
{
    const bool upper = lane & bit;
#pragma unroll
    for (int i = 0; i < half; i++) {
        const float give = upper ? y[i] : y[half + i], keep = upper ? y[half + i] : y[i];
        y[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, bit);
    }
}

/* Adds up y[0 .. steps) over the lanes of a channel. Each lane is left with steps / lanes of the sums, from step
   first_own(part) on, in y[0], y[1], ... As half of the values go each time, steps - steps / lanes shuffles do. */
template <int lanes, int steps>
static __device__ __forceinline__ void fold(float y[steps], int part)
{
    if (lanes > 1)
        fold_once<steps / 2>(y, 2 * part, 2);
    if (lanes > 2)
        fold_once<steps / 4>(y, 2 * part, 4);
    if (lanes > 4)
        fold_once<steps / 8>(y, 2 * part, 8);
    if (lanes > 8)
        fold_once<steps / 16>(y, 2 * part, 16);
}

template <int lanes, int steps>
static __device__ __forceinline__ int first_own(int part)
{
    return (lanes > 1 ? (part & 1) * (steps / 2) : 0) + (lanes > 2 ? (part >> 1 & 1) * (steps / 4) : 0) +
           (lanes > 4 ? (part >> 2 & 1) * (steps / 8) : 0) + (lanes > 8 ? (part >> 3 & 1) * (steps / 16) : 0);
}

#endif
