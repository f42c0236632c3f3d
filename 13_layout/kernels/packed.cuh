/* SPDX-License-Identifier: MIT */
/* packed.cuh - which step of a walk begins a sequence, and which sequence it is of.

       starts     0              3  3       5                  three sequences, the second one empty
       step       0    1    2    3     4
       begins     *              *                             from the first step on
       begins               *          *                       from the last one back                               */
#ifndef PACKED_CUH
#define PACKED_CUH

#include "walk.h"

/* The first of the starts that is not below `step`: num_seqs + 1 if there is none. */
static __device__ __forceinline__ long long first_start(const struct walk *walk, long long step)
{
    long long low = 0, high = walk->num_seqs + 1;
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (walk->starts[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The step at a position. */
static __device__ __forceinline__ long long step_at(const struct walk *walk, long long position)
{
    return walk->from_last ? walk->seq_len - 1 - position : position;
}

/* Whether a sequence begins at a position of the walk; what comes into it then is a state or nothing. */
static __device__ __forceinline__ bool begins_at(const struct walk *walk, long long position)
{
    if (walk->starts == NULL || position == 0)
        return position == 0;
    const long long edge = step_at(walk, position) + walk->from_last; /* from the last one back it is where one ends */
    const long long found = first_start(walk, edge);
    return found <= walk->num_seqs && walk->starts[found] == edge;
}

/* The sequence of a position: in batch b, or packed. */
static __device__ __forceinline__ long long sequence_at(const struct walk *walk, long long batch, long long position)
{
    if (walk->starts == NULL)
        return batch;
    const long long found = first_start(walk, step_at(walk, position) + 1) - 1; /* the last one that has begun */
    return found < 0 ? 0 : found < walk->num_seqs ? found : walk->num_seqs - 1;
}

/* Bit r: a sequence begins at position + r, for the `rows` steps of a warp, up to 32, whose lanes each look at one. */
template <int rows>
static __device__ __forceinline__ unsigned begins_among(const struct walk *walk, long long position)
{
    if (walk->starts == NULL)
        return position == 0;
    const int lane = threadIdx.x % 32;
    return __ballot_sync(0xFFFFFFFF,
                         lane < rows && position + lane < walk->seq_len && begins_at(walk, position + lane));
}

/* Bit r: one ends there. */
template <int rows>
static __device__ __forceinline__ unsigned ends_among(const struct walk *walk, long long position)
{
    const long long last = walk->seq_len - 1 - position;
    const unsigned is_last = last >= 0 && last < rows ? 1u << last : 0;
    return is_last | (walk->starts != NULL ? begins_among<rows>(walk, position + 1) : 0);
}

/* The first of a warp's steps, and a lane's first channel. */
struct place {
    long long batch, position, channel;
};

/* Where the state of step r's sequence lies, for a lane's channels. */
static __device__ __forceinline__ long long state_at(const struct walk *walk, const struct place *place, int r)
{
    return sequence_at(walk, place->batch, place->position + r) * walk->channels + place->channel;
}

/* Where a sequence begins, what comes into its first step: its state, 0 if there are none. */
template <int width>
static __device__ __forceinline__ void begin(const float *states, const struct walk *walk, const struct place *place,
                                             int r, float values[width])
{
    const bool is_there = states != NULL && place->channel < walk->channels;
    const long long at = is_there ? state_at(walk, place, r) : 0;
#pragma unroll
    for (int v = 0; v < width; v++)
        values[v] = is_there ? states[at + v] : 0.0f;
}

/* Leaves a state there. */
template <int width>
static __device__ __forceinline__ void leave(float *states, const struct walk *walk, const struct place *place, int r,
                                             const float values[width])
{
    const long long at = state_at(walk, place, r);
#pragma unroll
    for (int v = 0; v < width; v++)
        states[at + v] = values[v];
}

/* An empty sequence's state is left as it came: `to` (num_seqs, channels) becomes `from`, or 0 where that is NULL. All
   threads of one block call it. */
static __device__ __forceinline__ void pass_empty(const struct walk *walk, const float *from, float *to)
{
    for (long long s = threadIdx.x; s < walk->num_seqs; s += blockDim.x)
        if (walk->starts[s] == walk->starts[s + 1])
            for (long long i = s * walk->channels; i < (s + 1) * walk->channels; i++)
                to[i] = from != NULL ? from[i] : 0.0f;
}

#endif
