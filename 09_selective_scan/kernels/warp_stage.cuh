/* SPDX-License-Identifier: MIT */
/* warp_stage.cuh - the stage of a warp of state_passing.cu: a chunk of its channels in shared memory, all floats.

       | u: a row for each channel | delta | z | B: a row for each state | C |

   A lane brings pieces of four elements: the first row of each of its pieces follows the one before by 128 / steps. */
#ifndef WARP_STAGE_CUH
#define WARP_STAGE_CUH

#include "copy_four.cuh"
#include "own_steps.cuh"

#define STAGE_ROWS(lanes) (3 * CHANNELS(lanes) + 2 * STATES_OF(lanes))
#define STAGE(lanes, steps) ROOM(STAGE_ROWS(lanes), steps)
#define PIECES(lanes, steps) ((STAGE_ROWS(lanes) * (steps) / 4 + 31) / 32) /* of a lane */
#define ROW_B(lanes) (3 * CHANNELS(lanes))
#define ROW_C(lanes) (3 * CHANNELS(lanes) + STATES_OF(lanes))

/* Finds the lane's pieces of the stage in memory: `first` is the warp's first channel of those of its group, `here` how
   many it has, `at` the first step. Returns a mask of those that are there; a missing array, channel or state has none.
   */
template <typename dtype, int lanes, int steps>
static __device__ __forceinline__ unsigned find_pieces(const struct selective_args *args, size_t batch, size_t group,
                                                       size_t first, int here, int at, const dtype *pieces[])
{
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES(lanes, steps); j++) {
        const int piece = threadIdx.x % 32 + j * 32, row = piece / (steps / 4), t = piece % (steps / 4) * 4;
        const bool of_states = row >= ROW_B(lanes);
        const int own = of_states ? (row - ROW_B(lanes)) % STATES_OF(lanes) : row % CHANNELS(lanes);
        const void *const array = row < ROW_DELTA(lanes) ? args->u
                                  : row < ROW_Z(lanes)   ? args->delta
                                  : row < ROW_B(lanes)   ? args->z
                                  : row < ROW_C(lanes)   ? args->B
                                                         : args->C;
        const size_t array_row = of_states
                                     ? (batch * args->groups + group) * args->states + own
                                     : batch * args->channels + args->channels / args->groups * group + first + own;
        pieces[j] = (const dtype *)array + array_row * args->seq_len + at + t;
        if (row < STAGE_ROWS(lanes) && array != NULL && own < (of_states ? (int)args->states : here))
            there |= 1u << j;
    }
    return there;
}

/* Where the lane's first piece goes in a stage. The others follow, 128 / steps rows apart. */
template <int steps>
static __device__ __forceinline__ float *place_of_pieces(float *stage)
{
    const int lane = threadIdx.x % 32;
    return stage + swizzled<steps>(lane / (steps / 4), lane % (steps / 4) * 4);
}

/* Sends off the lane's pieces of the chunk that begins at step `at`, and goes `stride` steps on. From the sequence's
   end on nothing is sent. `all`: the chunk is in the sequence, and so is every row, and all are aligned. */
template <typename dtype, int lanes, int steps>
static __device__ __forceinline__ void fetch(const dtype *pieces[], unsigned there, int at, int stride, int seq_len,
                                             float *stage, uint2 *held, bool all = false)
{
    const int t = threadIdx.x % (steps / 4) * 4;
    float *const to = place_of_pieces<steps>(stage);
    if (all || (at + steps <= seq_len && seq_len % 4 == 0)) {
#pragma unroll
        for (int j = 0; j < PIECES(lanes, steps); j++)
            if (all ? (threadIdx.x % 32 + j * 32) / (steps / 4) < STAGE_ROWS(lanes) : there >> j & 1)
                fetch4(pieces[j], 4, true, to + j * swizzled<steps>(128 / steps, 0), &held[j]);
    } else if (at < seq_len) {
#pragma unroll
        for (int j = 0; j < PIECES(lanes, steps); j++)
            if (there >> j & 1)
                fetch4(pieces[j], seq_len - at - t, false, to + j * swizzled<steps>(128 / steps, 0), &held[j]);
    }
    __pipeline_commit();
#pragma unroll
    for (int j = 0; j < PIECES(lanes, steps); j++)
        pieces[j] += stride;
}

template <typename dtype, int lanes, int steps>
static __device__ __forceinline__ void land(const dtype *const pieces[], unsigned there, float *stage,
                                            const uint2 *held)
{
    const int t = threadIdx.x % (steps / 4) * 4;
#pragma unroll
    for (int j = 0; j < PIECES(lanes, steps); j++)
        if (there >> j & 1)
            land4(pieces[j], stage + swizzled<steps>((threadIdx.x % 32 + j * 32) / (steps / 4), t), held[j]);
}

#endif
