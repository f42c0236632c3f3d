/* chunk.cuh - what a warp works on in chapter 09's fast kernels: a chunk, `steps` steps (8 or 16) of 32 / lanes channels of
   one group. `lanes` lanes have a channel, four of its states each: lane `part` has states part, part + lanes, ...

       a lane's number    | channel / 2 | part | channel % 2 |

   Lanes of one channel read the same step, and lanes of one part the same states of B and C. With the bits in this order
   either kind has a neighbour, i ^ 1 or i ^ 2, that reads the same 16 bytes: shared memory then serves a warp in two turns
   instead of four.

   A chunk lies in shared memory as floats, `steps` in a row; this is a stage:

       | u: a row a channel | delta | z | B: a row a state | C |

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
#define STAGE(lanes, steps) ((3 * CHANNELS(lanes) + 2 * STATES_OF(lanes)) * (steps)) /* floats */
#define PIECES(rows, steps) (((rows) * (steps) / 4 + 31) / 32)                       /* of four elements, a lane */
#define HELD(lanes, steps) (3 * PIECES(CHANNELS(lanes), steps) + 2 * PIECES(STATES_OF(lanes), steps))

/* Where step t of a row lies. Four steps from a multiple of 4 on lie side by side. */
template <int steps>
static __device__ __forceinline__ int place(int row, int t)
{
    return row * steps + (steps == 16 ? t ^ (row & 2) * 4 : t);
}

static __device__ __forceinline__ void get4(const float *from, float to[4])
{
    const float4 four = *(const float4 *)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/* `count` elements, 1, 2 or a multiple of 4, from step t on of a row, to or from shared memory. */
template <int steps, int count>
static __device__ __forceinline__ void get(const float *rows, int row, int t, float to[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            get4(rows + place<steps>(row, t + i), to + i);
        else
            for (int j = 0; j < count; j++)
                to[j] = rows[place<steps>(row, t) + j];
}

template <int steps, int count>
static __device__ __forceinline__ void put(float *rows, int row, int t, const float from[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            *(float4 *)(rows + place<steps>(row, t + i)) = make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
        else
            for (int j = 0; j < count; j++)
                rows[place<steps>(row, t) + j] = from[j];
}

/* ---- From global memory to a stage, in pieces of four elements. fetch sends a piece off and land ends it: float32 flies by
   cp.async; 16 bits must be converted, and wait in `held` for that. ---- */

/* The first `left` elements of a piece are there, the others become 0. `whole`: all are, at a multiple of their size. */
static __device__ __forceinline__ void fetch4(const float *from, int left, bool whole, float *to, uint2 *)
{
    if (whole) {
        __pipeline_memcpy_async(to, from, 16);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (i < left)
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = 0.0f;
}

static __device__ __forceinline__ void land4(const float *, float *, uint2)
{
}

template <typename stored>
static __device__ __forceinline__ void fetch4(const stored *from, int left, bool whole, float *, uint2 *held)
{
    if (whole) {
        *held = *(const uint2 *)from;
        return;
    }
    stored four[4];
    for (int i = 0; i < 4; i++)
        four[i] = i < left ? from[i] : (stored)0.0f;
    memcpy(held, four, sizeof four);
}

template <typename stored>
static __device__ __forceinline__ void land4(const stored *, float *to, uint2 held)
{
    stored four[4];
    memcpy(four, &held, sizeof four);
    *(float4 *)to = make_float4((float)four[0], (float)four[1], (float)four[2], (float)four[3]);
}

/* The steps from `at` on of `count` rows, at most `rows`, which begin seq_len elements apart. */
template <typename stored, int rows, int steps>
static __device__ __forceinline__ void fetch_rows(const stored *from, int count, int at, int seq_len, bool whole,
                                                  float *to, uint2 *held)
{
#pragma unroll
    for (int j = 0; j < PIECES(rows, steps); j++) {
        const int piece = threadIdx.x % 32 + j * 32, row = piece / (steps / 4), t = piece % (steps / 4) * 4;
        if (row < count)
            fetch4(from + (size_t)row * seq_len + at + t, seq_len - at - t, whole, to + place<steps>(row, t), &held[j]);
    }
}

template <typename stored, int rows, int steps>
static __device__ __forceinline__ void land_rows(const stored *from, int count, float *to, const uint2 *held)
{
#pragma unroll
    for (int j = 0; j < PIECES(rows, steps); j++) {
        const int piece = threadIdx.x % 32 + j * 32, row = piece / (steps / 4), t = piece % (steps / 4) * 4;
        if (row < count)
            land4(from, to + place<steps>(row, t), held[j]);
    }
}

/* Where a warp's rows lie in memory, all "stored" arrays: its channels of u, delta and z (or NULL), its group's B and C. */
struct chunk_source {
    const void *u, *delta, *z, *B, *C;
    int channels, states; /* rows that are there */
    int seq_len;
};

/* Sends off the chunk that begins at step `at`. Nothing is sent from the sequence's end on. */
template <typename stored, int lanes, int steps>
static __device__ __forceinline__ void fetch_rows_of(const struct chunk_source *from, int at, bool whole, float *stage,
                                                     uint2 *held)
{
    enum { row = CHANNELS(lanes) * steps, state = STATES_OF(lanes) * steps };
    enum { pieces = PIECES(CHANNELS(lanes), steps), state_pieces = PIECES(STATES_OF(lanes), steps) };
    const int end = from->seq_len;
    fetch_rows<stored, CHANNELS(lanes), steps>((const stored *)from->u, from->channels, at, end, whole, stage, held);
    fetch_rows<stored, CHANNELS(lanes), steps>((const stored *)from->delta, from->channels, at, end, whole, stage + row,
                                               held + pieces);
    if (from->z != NULL)
        fetch_rows<stored, CHANNELS(lanes), steps>((const stored *)from->z, from->channels, at, end, whole,
                                                   stage + 2 * row, held + 2 * pieces);
    fetch_rows<stored, STATES_OF(lanes), steps>((const stored *)from->B, from->states, at, end, whole, stage + 3 * row,
                                                held + 3 * pieces);
    fetch_rows<stored, STATES_OF(lanes), steps>((const stored *)from->C, from->states, at, end, whole,
                                                stage + 3 * row + state, held + 3 * pieces + state_pieces);
}

template <typename stored, int lanes, int steps>
static __device__ __forceinline__ void fetch_chunk(const struct chunk_source *from, int at, float *stage, uint2 *held)
{
    if (at + steps <= from->seq_len && from->seq_len % 4 == 0)
        fetch_rows_of<stored, lanes, steps>(from, at, true, stage, held);
    else if (at < from->seq_len)
        fetch_rows_of<stored, lanes, steps>(from, at, false, stage, held);
    __pipeline_commit();
}

template <typename stored, int lanes, int steps>
static __device__ __forceinline__ void land_chunk(const struct chunk_source *from, float *stage, const uint2 *held)
{
    enum { row = CHANNELS(lanes) * steps, state = STATES_OF(lanes) * steps };
    enum { pieces = PIECES(CHANNELS(lanes), steps), state_pieces = PIECES(STATES_OF(lanes), steps) };
    const stored *const type = NULL;
    land_rows<stored, CHANNELS(lanes), steps>(type, from->channels, stage, held);
    land_rows<stored, CHANNELS(lanes), steps>(type, from->channels, stage + row, held + pieces);
    if (from->z != NULL)
        land_rows<stored, CHANNELS(lanes), steps>(type, from->channels, stage + 2 * row, held + 2 * pieces);
    land_rows<stored, STATES_OF(lanes), steps>(type, from->states, stage + 3 * row, held + 3 * pieces);
    land_rows<stored, STATES_OF(lanes), steps>(type, from->states, stage + 3 * row + state,
                                               held + 3 * pieces + state_pieces);
}

/* ---- What a lane does for the others of its channel ---- */

/* The lane's own steps of a chunk whose steps from own_at on are below seq_len: step and step u. The others are 0, and leave
   the states as they are. */
template <int lanes, int steps>
static __device__ __forceinline__ void prepare(const float *stage, int row, int mine, int own_at, int seq_len,
                                               float bias, bool delta_softplus, float *to)
{
    enum { rows = CHANNELS(lanes) * steps, own = steps / lanes };
    float u[own], step[own];
    get<steps, own>(stage, row, mine, u);
    get<steps, own>(stage + rows, row, mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = own_at + i < seq_len ? step_of(step[i] + bias, delta_softplus) : 0.0f;
        u[i] *= step[i];
    }
    put<steps, own>(to, row, mine, step);
    put<steps, own>(to + rows, row, mine, u);
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
        for (int i = 0; i < count; i += 4) {
            __align__(16) stored four[4];
            for (int j = 0; j < 4; j++)
                four[j] = (stored)values[i + j];
            if (sizeof(stored) == 4)
                *(float4 *)(to + i) = *(const float4 *)four;
            else
                *(uint2 *)(to + i) = *(const uint2 *)four;
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; i++)
            if (i < left)
                to[i] = (stored)values[i];
    }
}

#endif
