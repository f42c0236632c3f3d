/* chunk.cuh - what a warp works on in chapter 09's fast kernels: a chunk, `steps` steps (8 or 16) of 32 / lanes channels of
   one group. `lanes` lanes have a channel, four of its states each: lane `part` has states part, part + lanes, ...

       a lane's number    | channel / 2 | part | channel % 2 |

   Lanes of one channel read the same step, and lanes of one part the same states of B and C. With the bits in this order
   either kind has a neighbour, i ^ 1 or i ^ 2, that reads the same 16 bytes: shared memory then serves a warp in two turns
   instead of four.

   A chunk comes to a stage in shared memory, `steps` elements a row, in the type in which they are stored:

       | u: a row a channel | delta | z | B: a row a state | C |

   Beside it lie floats that the lanes compute once for all of them:

       step: a row a channel | step u |   and, where 16 bits are stored,   B: a row a state | C |

   In rows of 16, the halves of rows 2, 3, 6, 7, ... are swapped, so that rows r and r + 2 lie in different banks. */
#ifndef CHUNK_CUH
#define CHUNK_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "selective.cuh"
#include "selective_scan.h"

#define CHANNELS(lanes) (32 / (lanes))
#define STATES_OF(lanes) (4 * (lanes))
#define ROW_DELTA(lanes) CHANNELS(lanes) /* the first row of each array in a stage */
#define ROW_Z(lanes) (2 * CHANNELS(lanes))
#define ROW_B(lanes) ((3 * CHANNELS(lanes) + 3) / 4 * 4)
#define ROW_C(lanes) (ROW_B(lanes) + STATES_OF(lanes))
#define ROWS(lanes) (ROW_C(lanes) + STATES_OF(lanes))

/* A lane's share of a stage, in pieces of four steps. */
#define PIECES(lanes, steps) ((ROWS(lanes) * (steps) / 4 + 31) / 32)

/* Floats for B and C, where they are not stored as such. */
#define WIDE(stored, lanes, steps) (sizeof(stored) > 2 ? 4 : 2 * STATES_OF(lanes) * (steps))

/* Where step t of a row lies. Four steps from a multiple of 4 on lie side by side. */
template <int steps>
static __device__ __forceinline__ int place(int row, int t)
{
    return row * steps + (steps == 16 ? t ^ (row & 2) * 4 : t);
}

/* Four elements as floats, and back. */
static __device__ __forceinline__ void get4(const float *from, float to[4])
{
    const float4 four = *(const float4 *)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

static __device__ __forceinline__ void put4(float *to, const float from[4])
{
    *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}

template <typename stored>
static __device__ __forceinline__ void get4(const stored *from, float to[4])
{
    const uint2 bits = *(const uint2 *)from;
    stored four[4];
    memcpy(four, &bits, sizeof four);
    for (int i = 0; i < 4; i++)
        to[i] = (float)four[i];
}

template <typename stored>
static __device__ __forceinline__ void put4(stored *to, const float from[4])
{
    const stored four[4] = {(stored)from[0], (stored)from[1], (stored)from[2], (stored)from[3]};
    uint2 bits;
    memcpy(&bits, four, sizeof bits);
    *(uint2 *)to = bits;
}

/* `count` elements, 1, 2 or a multiple of 4, from step t on of a row in shared memory. */
template <int steps, int count, typename stored>
static __device__ __forceinline__ void get(const stored *rows, int row, int t, float to[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            get4(rows + place<steps>(row, t + i), to + i);
        else
            for (int j = 0; j < count; j++)
                to[j] = (float)rows[place<steps>(row, t) + j];
}

template <int steps, int count>
static __device__ __forceinline__ void put(float *rows, int row, int t, const float from[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            put4(rows + place<steps>(row, t + i), from + i);
        else
            for (int j = 0; j < count; j++)
                rows[place<steps>(row, t) + j] = from[j];
}

/* ---- From global memory to a stage, by cp.async. ---- */

/* A piece that is not aligned, or of which only the `left` first elements are there; the others become 0. */
template <typename stored>
static __device__ __forceinline__ void fetch_some(const stored *from, int left, stored *to)
{
    for (int i = 0; i < 4; i++)
        if (i >= left)
            to[i] = (stored)0.0f;
        else if (sizeof(stored) == 4) /* cp.async takes no less */
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = from[i];
}

/* The array to which the lane's piece j of a stage belongs, or NULL. */
template <int lanes, int steps>
static __device__ __forceinline__ const void *array_of(const struct selective_args *args, int j)
{
    const int row = (threadIdx.x % 32 + j * 32) / (steps / 4);
    return row < ROW_DELTA(lanes)      ? args->u
           : row < ROW_Z(lanes)        ? args->delta
           : row < 3 * CHANNELS(lanes) ? args->z
           : row < ROW_B(lanes)        ? NULL
           : row < ROW_C(lanes)        ? args->B
           : row < ROWS(lanes)         ? args->C
                                       : NULL;
}

/* Where the lane's pieces lie in their arrays, from step `at` on: `first` is the warp's first channel in its group, `here`
   how many it has. Returns a mask of those that are there; a missing array, channel or state has none. */
template <int lanes, int steps>
static __device__ __forceinline__ unsigned find_pieces(const struct selective_args *args, size_t batch, size_t group,
                                                       size_t first, int here, int at, size_t pieces[])
{
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES(lanes, steps); j++) {
        const int piece = threadIdx.x % 32 + j * 32, row = piece / (steps / 4), t = piece % (steps / 4) * 4;
        const bool of_states = row >= ROW_B(lanes);
        const int own = of_states ? (row - ROW_B(lanes)) % STATES_OF(lanes) : row % CHANNELS(lanes);
        const size_t array_row = of_states
                                     ? (batch * args->groups + group) * args->states + own
                                     : batch * args->channels + args->channels / args->groups * group + first + own;
        pieces[j] = array_row * args->seq_len + at + t;
        if (array_of<lanes, steps>(args, j) != NULL && own < (of_states ? (int)args->states : here))
            there |= 1u << j;
    }
    return there;
}

/* Sends off the lane's pieces of the chunk that begins at step `at`, and goes `stride` steps on. From the sequence's end on
   nothing is sent. */
template <typename stored, int lanes, int steps>
static __device__ __forceinline__ void fetch(const struct selective_args *args, size_t pieces[], unsigned there, int at,
                                             int stride, stored *stage)
{
    const int t = threadIdx.x % (steps / 4) * 4, seq_len = (int)args->seq_len;
    if (at + steps <= seq_len && seq_len % 4 == 0) {
#pragma unroll
        for (int j = 0; j < PIECES(lanes, steps); j++)
            if (there >> j & 1)
                __pipeline_memcpy_async(stage + place<steps>((threadIdx.x % 32 + j * 32) / (steps / 4), t),
                                        (const stored *)array_of<lanes, steps>(args, j) + pieces[j],
                                        4 * sizeof(stored));
    } else if (at < seq_len) {
#pragma unroll
        for (int j = 0; j < PIECES(lanes, steps); j++)
            if (there >> j & 1)
                fetch_some((const stored *)array_of<lanes, steps>(args, j) + pieces[j], seq_len - at - t,
                           stage + place<steps>((threadIdx.x % 32 + j * 32) / (steps / 4), t));
    }
    __pipeline_commit();
#pragma unroll
    for (int j = 0; j < PIECES(lanes, steps); j++)
        pieces[j] += stride;
}

/* B and C of a stage as floats: floats are ready; 16 bits are converted by all lanes, into `wide`. Returns the rows of B,
   behind which those of C lie. */
template <int lanes, int steps>
static __device__ __forceinline__ const float *widen(const float *stage, float *)
{
    return stage + ROW_B(lanes) * steps;
}

template <int lanes, int steps, typename stored>
static __device__ __forceinline__ const float *widen(const stored *stage, float *wide)
{
#pragma unroll 1
    for (int i = threadIdx.x % 32 * 4; i < 2 * STATES_OF(lanes) * steps; i += 128) {
        float four[4];
        get4(stage + ROW_B(lanes) * steps + i, four);
        put4(wide + i, four);
    }
    return wide;
}

/* ---- What a lane does for the others of its channel ---- */

/* The lane's own steps of a chunk whose steps from own_at on are below seq_len: step and step u. The others are 0, and leave
   the states as they are. */
template <int lanes, int steps, typename stored>
static __device__ __forceinline__ void prepare(const stored *stage, int row, int mine, int own_at, int seq_len,
                                               float bias, bool delta_softplus, float *to)
{
    enum { own = steps / lanes };
    float u[own], step[own];
    get<steps, own>(stage, row, mine, u);
    get<steps, own>(stage, ROW_DELTA(lanes) + row, mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = step_of(step[i] + bias, delta_softplus);
        if (own_at + i >= seq_len)
            step[i] = 0.0f;
        u[i] *= step[i];
    }
    put<steps, own>(to, row, mine, step);
    put<steps, own>(to, CHANNELS(lanes) + row, mine, u);
}

/* y[0 .. 2 half) of this lane and of the one whose part differs in `bit`: each keeps the sums of one half. */
template <int half>
static __device__ __forceinline__ void fold_once(float *y, int part, int bit)
{
    const bool upper = part & bit;
#pragma unroll
    for (int i = 0; i < half; i++) {
        const float give = upper ? y[i] : y[half + i], keep = upper ? y[half + i] : y[i];
        y[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, 2 * bit);
    }
}

/* Adds up y[0 .. steps) over the lanes of a channel. Each lane is left with steps / lanes of the sums, from step
   first_own(part) on, in y[0], y[1], ... As half of the values go each time, steps - steps / lanes shuffles do. */
template <int lanes, int steps>
static __device__ __forceinline__ void fold(float y[steps], int part)
{
    if (lanes > 1)
        fold_once<steps / 2>(y, part, 1);
    if (lanes > 2)
        fold_once<steps / 4>(y, part, 2);
    if (lanes > 4)
        fold_once<steps / 8>(y, part, 4);
    if (lanes > 8)
        fold_once<steps / 16>(y, part, 8);
}

template <int lanes, int steps>
static __device__ __forceinline__ int first_own(int part)
{
    return (lanes > 1 ? (part & 1) * (steps / 2) : 0) + (lanes > 2 ? (part >> 1 & 1) * (steps / 4) : 0) +
           (lanes > 4 ? (part >> 2 & 1) * (steps / 8) : 0) + (lanes > 8 ? (part >> 3 & 1) * (steps / 16) : 0);
}

/* The first `left` of `count` results, to global memory. `whole`: all are there, and pieces of four are aligned. */
template <typename stored, int count>
static __device__ __forceinline__ void store(stored *to, int left, bool whole, const float values[count])
{
    if (whole && count % 4 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 4)
            put4(to + i, values + i);
    } else {
#pragma unroll
        for (int i = 0; i < count; i++)
            if (i < left)
                to[i] = (stored)values[i];
    }
}

#endif
