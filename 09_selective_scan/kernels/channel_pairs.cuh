/* SPDX-License-Identifier: MIT */
/* channel_pairs.cuh - the states that each lane has in the backward passes fused, state_passing and checkpoints: a warp
   has twice as many channels as forward (channel_lanes.cuh), and a lane has two of them, with four states each. The two
   stand in rows `row` and `row ^ 2` of a chunk; the lane whose number differs in the bit `lanes` has the same two the
   other way round. With 16 states, four lanes for a channel:

       a lane's number   | channel / 4 | channel / 2 % 2 | part % 2 | channel % 2 |     its first channel, its own
                                       | part / 2        |

   Backward all is done for two channels with what is read for one: B and C, and most of the sums over channels, which
   begin inside of a lane. */
#ifndef CHANNEL_PAIRS_CUH
#define CHANNEL_PAIRS_CUH

#include "channel_lanes.cuh"
#include "lane_sums.cuh"
#include "shared_rows.cuh"
#include "grid.h"

enum { STEPS = STATE_PASSING_STEPS }; /* of a chunk */

#define BOTH(lanes) CHANNELS((lanes) / 2)      /* channels of a warp */
#define OWN_STEPS(lanes) (2 * STEPS / (lanes)) /* a lane's, of its first channel */
#define A_LANE 8                               /* states */

/* Where a lane works. Rows of arrays are counted by int: selective_state_passing_fits. */
struct pair_place {
    int row, part, order;          /* of its first channel in a stage; of the channel's lanes; see below */
    int here;                      /* channels of the warp: a row from here on has none, and adds 0 */
    int channel, channels, states; /* the warp's first channel in A, and in arrays like u; its group's first row of B */
};

static __device__ __forceinline__ int order_of(int lane, int lanes)
{
    return (lane & 16 ? 2 : 0) + (lane & (lanes == 8 ? 1 : 8) ? 1 : 0);
}

/* Blocks have the channels of `warps` warps each, of one group, in order. */
template <int lanes, int warps = 1>
static __device__ __forceinline__ struct pair_place place_pair(const struct selective_args *args)
{
    const unsigned lane = threadIdx.x % 32, per_group = args->channels / args->groups, groups = args->groups;
    const unsigned blocks = (per_group - 1) / (warps * BOTH(lanes)) + 1, of_group = blockIdx.x / blocks;
    const unsigned warp = warps > 1 ? threadIdx.x / 32 : 0, first = (blockIdx.x % blocks * warps + warp) * BOTH(lanes);
    struct pair_place place;
    place.row = lane / lanes * 2 + lane % 2, place.part = lane / 2 % lanes;
    place.order = order_of(lane, lanes);
    place.here = min((int)(per_group - first), (int)BOTH(lanes));
    place.channel = of_group % groups * per_group + first;
    place.channels = of_group * per_group + first;
    place.states = of_group * args->states;
    return place;
}

/* Whose states these are: of the warp's channel in `row`, those of a part. */
struct reader {
    int at, order; /* where they lie among those of the warp, in floats; see below */
};

template <int lanes>
static __device__ __forceinline__ struct reader reader_of(int row, int part)
{
    const int lane = row / 4 * 2 * lanes + 2 * part + row % 2, is_second = (2 * part / lanes) ^ (row / 2 % 2);
    const struct reader reader = {is_second * 32 * 4 + lane * 4, order_of(lane, lanes)};
    return reader;
}

/* The lane's states from an array (..., channels, states), or 0 where there are none; `channel` is the warp's first. */
template <int lanes>
static __device__ __forceinline__ void load_pair(const struct selective_args *args, const struct pair_place *place,
                                                 int channel, const float *array, float to[2][4])
{
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = place->row ^ 2 * k, n = (i ^ place->order) * lanes + place->part;
            const bool in_bounds = array != NULL && row < place->here && n < (int)args->states;
            to[k][i] = in_bounds ? array[(size_t)(channel + row) * args->states + n] : 0.0f;
        }
}

/* The lane's A, times log2 e. A state that is not there borrows that of the channel's last one, as in load_states. */
template <int lanes>
static __device__ __forceinline__ void load_A(const struct selective_args *args, const struct pair_place *place,
                                              float A[2][4])
{
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = place->row ^ 2 * k,
                      n = min((i ^ place->order) * lanes + place->part, (int)args->states - 1);
            A[k][i] = row < place->here ? args->A[(size_t)(place->channel + row) * args->states + n] * LOG2_E : 0.0f;
        }
}

template <int lanes>
static __device__ __forceinline__ void store_pair(const struct selective_args *args, const struct pair_place *place,
                                                  const float from[2][4], float *array)
{
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = place->row ^ 2 * k, n = (i ^ place->order) * lanes + place->part;
            if (array != NULL && row < place->here && n < (int)args->states)
                array[(size_t)(place->channels + row) * args->states + n] = from[k][i];
        }
}

/* A float for each of a lane's states, at `there` for its first channel, 32 lanes' of them before those of its
   second. */
static __device__ __forceinline__ void get_states(const float *there, float to[2][4])
{
    get4(there, to[0]);
    get4(there + 32 * 4, to[1]);
}

static __device__ __forceinline__ void put_states(float *there, const float from[2][4])
{
    *(float4 *)there = make_float4(from[0][0], from[0][1], from[0][2], from[0][3]);
    *(float4 *)(there + 32 * 4) = make_float4(from[1][0], from[1][1], from[1][2], from[1][3]);
}

static __device__ __forceinline__ void add_states(float *there, const float more[2][4])
{
    float sums[2][4];
    get_states(there, sums);
#pragma unroll
    for (int i = 0; i < 8; i++)
        sums[i / 4][i % 4] += more[i / 4][i % 4];
    put_states(there, sums);
}

/* Where the lane's i-th state lies among the rows of B or C. */
template <int lanes>
static __device__ __forceinline__ int state_at(int i, int order, int part)
{
    return lanes % 4 == 0 ? (i ^ order) * ROOM(lanes, STEPS) + swizzled<STEPS>(part, 0)
                          : swizzled<STEPS>((i ^ order) * lanes + part, 0);
}

/* The first of a lane's own steps of its first channel. */
template <int lanes>
static __device__ __forceinline__ int first_own_step(int part)
{
    return first_own<lanes / 2, STEPS>(part);
}

#endif
