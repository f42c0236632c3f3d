/* SPDX-License-Identifier: MIT */
/* channel_lanes.cuh - the states that each lane has in fused_steps.cu, state_passing.cu and warp_specialized.cu. A warp
   has 32 / lanes channels of one group. `lanes` lanes have a channel, four of its states each: lane `part` has states
   part, part + lanes, ...

       a lane's number    | channel / 2 | part | channel % 2 |

   Lanes of one channel read the same step, and lanes of one part the same states of B and C. With the bits in this
   order either kind has a neighbour, i ^ 1 or i ^ 2, that reads the same 16 bytes: shared memory then serves a warp in
   two wavefronts instead of four. */
#ifndef CHANNEL_LANES_CUH
#define CHANNEL_LANES_CUH

#include "activations.cuh"
#include "kernels.h"

#define CHANNELS(lanes) (32 / (lanes))
#define STATES_OF(lanes) (4 * (lanes))

/* Where a lane works: its warp's channels are `here` of its group's from `first` on, and the lane has one of them, in
   `row` of a stage. A lane without one (row >= here) computes with the group's last channel, and writes nothing. */
struct chunk_place {
    size_t batch, group, first;
    size_t channel, both; /* of all channels; of all channels of all batches */
    int part, row, here;
    bool full; /* whether all warps of the block have all of their channels */
};

/* Blocks have the channels of `warps` warps each, of one group, in order. */
template <int lanes, int warps = 1>
static __device__ __forceinline__ struct chunk_place place_of(const struct selective_args *args)
{
    enum { channels = warps * CHANNELS(lanes) }; /* of a block */
    const int lane = threadIdx.x % 32, warp = warps > 1 ? threadIdx.x / 32 : 0;
    const size_t per_group = args->channels / args->groups, blocks = (per_group - 1) / channels + 1;
    struct chunk_place place;
    place.part = lane / 2 % lanes, place.row = lane / (2 * lanes) * 2 + lane % 2;
    place.group = blockIdx.x / blocks % args->groups, place.batch = blockIdx.x / blocks / args->groups;
    place.full = blockIdx.x % blocks * channels + channels <= per_group;
    place.first = min(blockIdx.x % blocks * channels + warp * CHANNELS(lanes), per_group);
    place.here = (int)min(per_group - place.first, (size_t)CHANNELS(lanes));
    place.channel = place.group * per_group + min(place.first + place.row, per_group - 1);
    place.both = place.batch * args->channels + place.channel;
    return place;
}

/* The lane's A, times log2 e, and states, `each` of them, from `first_states`, (batch, channels, states), or 0 if that
   is NULL. A lane without a channel has h = 0. So has a state that is not there, and it borrows the A of the channel's
   last one: exp(step A) is then not finite only where it is not for a true state, while 0 would make a NaN of every
   infinite step, and of every gradient before it. `order`: see order_of. */
template <int lanes, int each = 4>
static __device__ __forceinline__ void load_states(const struct selective_args *args, const struct chunk_place *place,
                                                   const float *first_states, float A[each], float h[each],
                                                   int order = 0)
{
#pragma unroll
    for (int i = 0; i < each; i++) {
        const size_t n = (i ^ order) * lanes + place->part;
        const bool first = n < args->states && place->row < place->here && first_states != NULL;
        A[i] = args->A[place->channel * args->states + min(n, args->states - 1)] * LOG2_E;
        h[i] = first ? first_states[place->both * args->states + n] : 0.0f;
    }
}

template <int lanes, int each = 4>
static __device__ __forceinline__ void store_states(const struct selective_args *args, const struct chunk_place *place,
                                                    const float h[each], float *last_states, int order = 0)
{
#pragma unroll
    for (int i = 0; i < each; i++) {
        const size_t n = (i ^ order) * lanes + place->part;
        if (last_states != NULL && place->row < place->here && n < args->states)
            last_states[place->both * args->states + n] = h[i];
    }
}

#endif
