/* SPDX-License-Identifier: MIT */
/* gradient_stage.cuh - the stage of a warp of state_passing_states.cu and state_passing_backward.cu: a chunk of its
   channels in shared memory, all floats, and how it gets there. It begins with what state_passing_states.cu needs, and
   ends with the states before the chunk:

     | u: a row a channel | delta | B: a row a state | C | z | d_out | h: 4 states of each lane's first, of its second |
 */
#ifndef GRADIENT_STAGE_CUH
#define GRADIENT_STAGE_CUH

#include "channel_pairs.cuh"
#include "copy_four.cuh"

#define B_AT(lanes) ROOM(2 * BOTH(lanes), STEPS) /* where each array begins, in floats */
#define C_AT(lanes) (B_AT(lanes) + ROOM(STATES_OF(lanes), STEPS))
#define Z_AT(lanes) (C_AT(lanes) + ROOM(STATES_OF(lanes), STEPS))
#define D_OUT_AT(lanes) (Z_AT(lanes) + ROOM(BOTH(lanes), STEPS))
#define H_AT(lanes) (D_OUT_AT(lanes) + ROOM(BOTH(lanes), STEPS))
#define HALF_ROWS(lanes) (2 * BOTH(lanes) + STATES_OF(lanes)) /* up to C */
#define ALL_ROWS(lanes) (2 * HALF_ROWS(lanes))
#define PIECES(rows) (((rows)*STEPS / 4 + 31) / 32) /* a lane's, of four steps each */

/* A lane's pieces of four steps: the row of the first, of which the others follow 16 rows apart, and their step. With
   four lanes a channel these are also its own steps. */
static __device__ __forceinline__ int piece_row()
{
    return threadIdx.x % 32 / 4 * 2 + threadIdx.x % 2;
}

static __device__ __forceinline__ int piece_step()
{
    return threadIdx.x / 2 % 2 * 4;
}

/* Whether a row of a stage is there, and where its array has step `at` of it. */
template <typename dtype, int lanes>
static __device__ __forceinline__ bool find_row(const struct selective_args *args, const struct pair_place *place,
                                                int row, int at, const dtype **from)
{
    enum { channels = BOTH(lanes), states = STATES_OF(lanes), delta = channels, B = 2 * channels, C = B + states };
    enum { z = C + states, d_out = z + channels };
    const bool of_states = row >= B && row < z;
    const int own = of_states ? (row - B) % states : (row < B ? row : row - z) % channels;
    const void *const array = row < delta   ? args->u
                              : row < B     ? args->delta
                              : row < C     ? args->B
                              : row < z     ? args->C
                              : row < d_out ? args->z
                                            : args->d_out;
    const unsigned array_row = (of_states ? place->states : place->channels) + own;
    *from = (const dtype *)array + ((size_t)array_row * (unsigned)args->seq_len + at);
    return array != NULL && own < (of_states ? (int)args->states : place->here);
}

/* Four steps of a row fly by cp.async, where they are `whole`: all there, at a multiple of their size. Else the first
   `left` are, and the others become 0. float32 is then where it belongs. 16 bits fly to the second half of the place
   where the floats shall be, and land_rows ends it. */
static __device__ __forceinline__ void send4(const float *from, int left, bool whole, float *to)
{
    fetch4(from, left, whole, to, NULL);
}

template <typename dtype>
static __device__ __forceinline__ void send4(const dtype *from, int left, bool whole, float *to)
{
    if (whole)
        __pipeline_memcpy_async(to + 2, from, 8);
    else
        for (int i = 0; i < 4; i++)
            ((dtype *)(to + 2))[i] = i < left ? from[i] : (dtype)0.0f;
}

/* Sends off the first `rows` rows of the chunk that begins at step `at`. From the sequence's end on nothing is sent.
   Where all rows and steps are there and aligned, there is nothing to ask. */
template <typename dtype, int lanes, int rows>
static __device__ __forceinline__ void fetch_rows(const struct selective_args *args, const struct pair_place *place,
                                                  int at, float *stage)
{
    const int row = piece_row(), t = piece_step(), left = (int)args->seq_len - at;
    const bool aligned = left >= STEPS && args->seq_len % 4 == 0;
    const bool every_row = place->here == BOTH(lanes) && args->states == STATES_OF(lanes) && args->z != NULL;
    float *const to = stage + swizzled<STEPS>(row, t);
    const dtype *from;
    if (aligned && every_row) {
#pragma unroll
        for (int j = 0; j < PIECES(rows); j++)
            if (j * 16 + 16 <= rows || j * 16 + row < rows) {
                find_row<dtype, lanes>(args, place, j * 16 + row, at + t, &from);
                send4(from, 4, true, to + j * ROOM(16, STEPS));
            }
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < PIECES(rows); j++)
            if (j * 16 + row < rows && find_row<dtype, lanes>(args, place, j * 16 + row, at + t, &from))
                send4(from, left - t, aligned, to + j * ROOM(16, STEPS));
    }
    __pipeline_commit();
}

/* Waits for what fetch_rows has sent. A lane converts what it has sent itself. */
template <typename dtype, int lanes, int rows>
static __device__ __forceinline__ void land_rows(const struct selective_args *args, const struct pair_place *place,
                                                 float *stage)
{
    const int row = piece_row();
    const dtype *from;
    __pipeline_wait_prior(0);
#pragma unroll
    for (int j = 0; j < PIECES(rows) && sizeof(dtype) < 4; j++)
        if (j * 16 + row < rows && find_row<dtype, lanes>(args, place, j * 16 + row, 0, &from)) {
            float *const to = stage + swizzled<STEPS>(row, piece_step()) + j * ROOM(16, STEPS);
            land4(from, to, *(const uint2 *)(to + 2));
        }
}

/* Sends off the chunk that begins at step `at`, if it is one, and the states before it, which the lane has at
   `saved`. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void fetch_all(const struct selective_args *args, const struct pair_place *place,
                                                 const float *saved, int at, float *stage)
{
    if (at >= 0) {
        float *const to = stage + H_AT(lanes) + threadIdx.x % 32 * 4;
        __pipeline_memcpy_async(to, saved, 16);
        __pipeline_memcpy_async(to + 32 * 4, saved + 32 * 4, 16);
        fetch_rows<dtype, lanes, ALL_ROWS(lanes)>(args, place, at, stage);
    }
}

#endif
