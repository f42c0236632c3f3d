/* chunk.cuh - what a warp works on in chapter 09's fast kernels: a chunk, `steps` steps (8 or 16) of 32 / lanes
   channels of one group. `lanes` lanes have a channel, four of its states each: lane `part` has states
   part, part + lanes, ...

       a lane's number    | channel / 2 | part | channel % 2 |

   Lanes of one channel read the same step, and lanes of one part the same states of B and C. With the bits in this
   order either kind has a neighbour, i ^ 1 or i ^ 2, that reads the same 16 bytes: shared memory then serves a warp in
   two wavefronts instead of four.

   A chunk lies in shared memory, `steps` in a row; this is relay's stage, all floats (fused_steps: stage.cuh):

       | u: a row a channel | delta | z | B: a row a state | C |      and step | step u, which the lanes compute

   In rows of 16, the halves of rows 2, 3, 6, 7, ... are swapped, so that rows r and r + 2 lie in different banks. In
   rows of 32 (span.cuh) the quarters change places from row to row in the same way, in 16 bits from each second row.
   Behind four rows of 8 there is room for four floats: this holds for rows r and r + 4. */
#ifndef CHUNK_CUH
#define CHUNK_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "selective.cuh"
#include "kernels.h"

#define CHANNELS(lanes) (32 / (lanes))
#define STATES_OF(lanes) (4 * (lanes))
#define STAGE_ROWS(lanes) (3 * CHANNELS(lanes) + 2 * STATES_OF(lanes))
#define ROOM(rows, steps) ((rows) * ((steps) < 16 ? (steps) + 1 : (steps))) /* floats, for a multiple of four rows */
#define STAGE(lanes, steps) ROOM(STAGE_ROWS(lanes), steps)
#define PIECES_OF(rows, steps) (((rows) * (steps) / 4 + 31) / 32) /* a lane's, of four steps each */
#define PIECES(lanes, steps) PIECES_OF(STAGE_ROWS(lanes), steps)
#define ROW_DELTA(lanes) (CHANNELS(lanes)) /* the first row of each array */
#define ROW_Z(lanes) (2 * CHANNELS(lanes))
#define ROW_B(lanes) (3 * CHANNELS(lanes))
#define ROW_C(lanes) (3 * CHANNELS(lanes) + STATES_OF(lanes))

/* What lies `bytes` behind an address. */
template <typename type>
static __device__ __forceinline__ type *behind(type *address, int bytes)
{
    return (type *)((char *)address + bytes);
}

/* Where step t of a row lies. Four steps from a multiple of 4 on lie side by side. Rows of 16 bits lie as they are, but
   for those of 32 steps. */
template <int steps, typename element = float>
static __device__ __forceinline__ int place(int row, int t)
{
    if (sizeof(element) < 4)
        return row * steps + (steps == 32 ? t ^ (row & 6) * 4 : t);
    return row * steps + (steps == 32   ? t ^ (row & 3) * 8
                          : steps == 16 ? t ^ (row & 2) * 4
                          : steps == 8  ? (row & ~3) + t
                                        : t);
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
        if (count % 4 == 0) {
            get4(rows + place<steps>(row, t + i), to + i);
        } else if (count == 2) {
            const float2 two = *(const float2 *)(rows + place<steps>(row, t));
            to[0] = two.x, to[1] = two.y;
        } else {
            to[0] = rows[place<steps>(row, t)];
        }
}

/* Two neighbours of 16 bits as floats; the pointer only says their type. */
static __device__ __forceinline__ float2 two_floats(unsigned bits, const __nv_bfloat16 *)
{
    __nv_bfloat162 two;
    memcpy(&two, &bits, sizeof two);
    return __bfloat1622float2(two);
}

static __device__ __forceinline__ float2 two_floats(unsigned bits, const __half *)
{
    __half2 two;
    memcpy(&two, &bits, sizeof two);
    return __half22float2(two);
}

template <int steps, int count, typename stored>
static __device__ __forceinline__ void get(const stored *rows, int row, int t, float to[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0) {
            const uint2 bits = *(const uint2 *)(rows + place<steps, stored>(row, t + i));
            const float2 two = two_floats(bits.x, rows), more = two_floats(bits.y, rows);
            to[i] = two.x, to[i + 1] = two.y, to[i + 2] = more.x, to[i + 3] = more.y;
        } else if (count == 2) {
            const float2 two = two_floats(*(const unsigned *)(rows + place<steps, stored>(row, t)), rows);
            to[0] = two.x, to[1] = two.y;
        } else {
            to[0] = (float)rows[place<steps, stored>(row, t)];
        }
}

template <int steps, int count>
static __device__ __forceinline__ void put(float *rows, int row, int t, const float from[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            *(float4 *)(rows + place<steps>(row, t + i)) = make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
        else if (count == 2)
            *(float2 *)(rows + place<steps>(row, t)) = make_float2(from[0], from[1]);
        else
            rows[place<steps>(row, t)] = from[0];
}

/* ---- From global memory to a stage, in pieces of four elements. fetch sends a piece off and land ends it: float32
   flies by cp.async; 16 bits must be converted, and wait in `held` for that. ---- */

/* The first `left` elements of a piece are there, the others become 0. `whole`: all are, at a multiple of their
   size. */
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
   is NULL. A state that is not there has A = 0 and h = 0, and that of a lane without a channel h = 0. `order`: see
   order_of. */
template <int lanes, int each = 4>
static __device__ __forceinline__ void load_states(const struct selective_args *args, const struct chunk_place *place,
                                                   const float *first_states, float A[each], float h[each],
                                                   int order = 0)
{
#pragma unroll
    for (int i = 0; i < each; i++) {
        const size_t n = (i ^ order) * lanes + place->part;
        const bool first = n < args->states && place->row < place->here && first_states != NULL;
        A[i] = n < args->states ? args->A[place->channel * args->states + n] * LOG2_E : 0.0f;
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

/* Finds the lane's pieces of the stage in memory: `first` is the warp's first channel of those of its group, `here` how
   many it has, `at` the first step. Returns a mask of those that are there; a missing array, channel or state has none.
   */
template <typename stored, int lanes, int steps>
static __device__ __forceinline__ unsigned find_pieces(const struct selective_args *args, size_t batch, size_t group,
                                                       size_t first, int here, int at, const stored *pieces[])
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
        pieces[j] = (const stored *)array + array_row * args->seq_len + at + t;
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
    return stage + place<steps>(lane / (steps / 4), lane % (steps / 4) * 4);
}

/* Sends off the lane's pieces of the chunk that begins at step `at`, and goes `stride` steps on. From the sequence's
   end on nothing is sent. `all`: the chunk is in the sequence, and so is every row, and all are aligned. */
template <typename stored, int lanes, int steps, int rows = STAGE_ROWS(lanes)>
static __device__ __forceinline__ void fetch(const stored *pieces[], unsigned there, int at, int stride, int seq_len,
                                             float *stage, uint2 *held, bool all = false)
{
    const int t = threadIdx.x % (steps / 4) * 4;
    float *const to = place_of_pieces<steps>(stage);
    if (all || (at + steps <= seq_len && seq_len % 4 == 0)) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, steps); j++)
            if (all ? (threadIdx.x % 32 + j * 32) / (steps / 4) < rows : there >> j & 1)
                fetch4(pieces[j], 4, true, to + j * place<steps>(128 / steps, 0), &held[j]);
    } else if (at < seq_len) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, steps); j++)
            if (there >> j & 1)
                fetch4(pieces[j], seq_len - at - t, false, to + j * place<steps>(128 / steps, 0), &held[j]);
    }
    __pipeline_commit();
#pragma unroll
    for (int j = 0; j < PIECES_OF(rows, steps); j++)
        pieces[j] += stride;
}

template <typename stored, int lanes, int steps, int rows = STAGE_ROWS(lanes)>
static __device__ __forceinline__ void land(const stored *const pieces[], unsigned there, float *stage,
                                            const uint2 *held)
{
    const int t = threadIdx.x % (steps / 4) * 4;
#pragma unroll
    for (int j = 0; j < PIECES_OF(rows, steps); j++)
        if (there >> j & 1)
            land4(pieces[j], stage + place<steps>((threadIdx.x % 32 + j * 32) / (steps / 4), t), held[j]);
}

/* ---- What a lane does for the others of its channel ---- */

/* The lane's own steps of a chunk, from own_at on: step and step u. Those from seq_len on are 0, and leave the states
   as they are; `whole`: there are none. */
template <int lanes, int steps, typename stored>
static __device__ __forceinline__ void prepare(const stored *stage, int row, int mine, int own_at, int seq_len,
                                               float bias, bool delta_softplus, float *to, bool whole = false)
{
    enum { own = steps / lanes };
    float u[own], step[own];
    get<steps, own>(stage, row, mine, u);
    get<steps, own>(stage, ROW_DELTA(lanes) + row, mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = step_of(step[i] + bias, delta_softplus);
        if (!whole && own_at + i >= seq_len)
            step[i] = 0.0f;
        u[i] *= step[i];
    }
    put<steps, own>(to, row, mine, step);
    put<steps, own>(to, CHANNELS(lanes) + row, mine, u);
}

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

/* Four results to global memory, at a multiple of their size. (As an assignment it became four stores of one each.) */
static __device__ __forceinline__ void store4(float *to, const float values[4])
{
    __stcs((float4 *)to, make_float4(values[0], values[1], values[2], values[3]));
}

template <typename stored>
static __device__ __forceinline__ void store4(stored *to, const float values[4])
{
    stored four[4];
    uint2 bits;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four[i] = (stored)values[i];
    memcpy(&bits, four, sizeof bits);
    __stcs((uint2 *)to, bits);
}

/* The first `left` of `count` results, to global memory. `whole`: all are there, and two or four aligned as such. */
template <typename stored, int count>
static __device__ __forceinline__ void store(stored *to, int left, bool whole, const float values[count])
{
    if (whole && count % 4 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 4)
            store4(to + i, values + i);
    } else if (whole && count == 2) {
        __align__(8) const stored two[2] = {(stored)values[0], (stored)values[count - 1]};
        if (sizeof(stored) == 4)
            *(float2 *)to = *(const float2 *)two;
        else
            *(unsigned *)to = *(const unsigned *)two;
    } else {
#pragma unroll
        for (int i = 0; i < count; i++)
            if (i < left)
                to[i] = (stored)values[i];
    }
}

/* The end of a chunk: y of the lane's states, added up over its channel's lanes, + D u, times silu(z). `out` is where
   the first step that the lane is left with belongs; `left` steps from the chunk's first on are in the sequence.
   `whole`: the lane has a channel, all steps are there, and pieces of four are aligned. */
template <typename stored, int lanes, int steps, typename staged>
static __device__ __forceinline__ void finish(const struct selective_args *args, const struct chunk_place *place,
                                              const staged *stage, float D, int left, bool whole, stored *out,
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
        store<stored, own>(out, left - mine, whole, y);
}

#endif
