/* SPDX-License-Identifier: MIT */
/* own_steps.cuh - a lane's work for all lanes of its channel, in all kernels of chapter 09 that give a channel several.
   All of them need every step of a chunk; each computes steps / lanes of these for the others, before the loop over
   time, and ends as many outputs behind it.

       before   step = softplus(delta + bias), step u         to shared memory
       behind   out = (y + D u) silu(z)                       to global memory

   Rows of a stage begin with u and delta, a row for each channel, and z follows. */
#ifndef OWN_STEPS_CUH
#define OWN_STEPS_CUH

#include <float.h>

#include "channel_lanes.cuh"
#include "lane_sums.cuh"
#include "shared_rows.cuh"

#define ROW_DELTA(lanes) (CHANNELS(lanes)) /* the first row of each array */
#define ROW_Z(lanes) (2 * CHANNELS(lanes))

/* For steps behind a sequence's end. A step of 0 leaves a state as it is, but exp(0 A) is NaN for an infinite A, and
   spoils a product or a sum of products that ends there. With this one exp(step A) is 1, or 0 for A = -infinity. */
#define NEXT_TO_NO_STEP FLT_MIN

/* The lane's own steps of a chunk, from own_at on: step and step u. Those from seq_len on are 0, and leave the states
   as they are; `whole`: there are none. `behind`: see NEXT_TO_NO_STEP. */
template <int lanes, int steps, typename dtype>
static __device__ __forceinline__ void prepare(const dtype *stage, int row, int mine, int own_at, int seq_len,
                                               float bias, bool delta_softplus, float *to, bool whole = false,
                                               float behind = 0.0f)
{
    enum { own = steps / lanes };
    float u[own], step[own];
    get<steps, own>(stage, row, mine, u);
    get<steps, own>(stage, ROW_DELTA(lanes) + row, mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = step_of(step[i] + bias, delta_softplus);
        if (!whole && own_at + i >= seq_len)
            step[i] = behind;
        u[i] *= step[i];
    }
    put<steps, own>(to, row, mine, step);
    put<steps, own>(to, CHANNELS(lanes) + row, mine, u);
}

/* Four results to global memory, at a multiple of their size. (As an assignment it became four stores of one each.) */
static __device__ __forceinline__ void store4(float *to, const float values[4])
{
    __stcs((float4 *)to, make_float4(values[0], values[1], values[2], values[3]));
}

template <typename dtype>
static __device__ __forceinline__ void store4(dtype *to, const float values[4])
{
    dtype four[4];
    uint2 bits;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four[i] = (dtype)values[i];
    memcpy(&bits, four, sizeof bits);
    __stcs((uint2 *)to, bits);
}

/* The first `left` of `count` results, to global memory. `whole`: all are there, and two or four aligned as such. */
template <typename dtype, int count>
static __device__ __forceinline__ void store(dtype *to, int left, bool whole, const float values[count])
{
    if (whole && count % 4 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 4)
            store4(to + i, values + i);
    } else if (whole && count == 2) {
        __align__(8) const dtype two[2] = {(dtype)values[0], (dtype)values[count - 1]};
        if (sizeof(dtype) == 4)
            *(float2 *)to = *(const float2 *)two;
        else
            *(unsigned *)to = *(const unsigned *)two;
    } else {
#pragma unroll
        for (int i = 0; i < count; i++)
            if (i < left)
                to[i] = (dtype)values[i];
    }
}

/* The end of a chunk: y of the lane's states, added up over its channel's lanes, + D u, times silu(z). `out` is where
   the first step that the lane is left with belongs; `left` steps from the chunk's first on are in the sequence.
   `whole`: the lane has a channel, all steps are there, and pieces of four are aligned. */
template <typename dtype, int lanes, int steps, typename staged>
static __device__ __forceinline__ void finish(const struct selective_args *args, const struct chunk_place *place,
                                              const staged *stage, float D, int left, bool whole, dtype *out,
                                              float y[steps])
{
    enum { own = steps / lanes };
    const int mine = first_own<lanes, steps>(place->part);
    float u[own], z[own];
    fold<lanes, steps>(y, place->part);
    get<steps, own>(stage, place->row, mine, u);
    get<steps, own>(stage + ROOM(ROW_Z(lanes), steps), place->row, mine, z);
#pragma unroll
    for (int i = 0; i < own; i++) {
        y[i] += D * u[i];
        if (args->z != NULL)
            y[i] *= silu(z[i]);
    }
    if (whole || place->row < place->here)
        store<dtype, own>(out, left - mine, whole, y);
}

#endif
