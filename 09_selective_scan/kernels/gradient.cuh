/* gradient.cuh - chapter 09's relay backward: a warp's chunk has twice as many channels as forward (chunk.cuh), and a
   lane has two of them, with four states each. The two stand in rows `row` and `row ^ 2` of a chunk; the lane whose
   number differs in the bit `lanes` has the same two the other way round. With 16 states, four lanes a channel:

       a lane's number   | channel / 4 | channel / 2 % 2 | part % 2 | channel % 2 |     its first channel, its own
                                       | part / 2        |

   Backward all is done for two channels with what is read for one: B and C, and most of the sums over channels, which
   begin inside of a lane. A stage begins with what state_passing_states.cu needs, and ends with the states before the chunk:

     | u: a row a channel | delta | B: a row a state | C | z | d_out | h: 4 states of each lane's first, of its second |
 */
#ifndef GRADIENT_CUH
#define GRADIENT_CUH

#include "chunk.cuh"

enum { STEPS = STATE_PASSING_STEPS };

#define BOTH(lanes) CHANNELS((lanes) / 2)        /* channels of a warp */
#define B_AT(lanes) ROOM(2 * BOTH(lanes), STEPS) /* where each array begins, in floats */
#define C_AT(lanes) (B_AT(lanes) + ROOM(STATES_OF(lanes), STEPS))
#define Z_AT(lanes) (C_AT(lanes) + ROOM(STATES_OF(lanes), STEPS))
#define D_OUT_AT(lanes) (Z_AT(lanes) + ROOM(BOTH(lanes), STEPS))
#define H_AT(lanes) (D_OUT_AT(lanes) + ROOM(BOTH(lanes), STEPS))
#define HALF_ROWS(lanes) (2 * BOTH(lanes) + STATES_OF(lanes)) /* up to C */
#define ALL_ROWS(lanes) (2 * HALF_ROWS(lanes))
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
            const bool is_there = array != NULL && row < place->here && n < (int)args->states;
            to[k][i] = is_there ? array[(size_t)(channel + row) * args->states + n] : 0.0f;
        }
}

/* The lane's A, times log2 e. */
template <int lanes>
static __device__ __forceinline__ void load_A(const struct selective_args *args, const struct pair_place *place,
                                              float A[2][4])
{
    load_pair<lanes>(args, place, place->channel, args->A, A);
#pragma unroll
    for (int i = 0; i < 8; i++)
        A[i / 4][i % 4] *= LOG2_E;
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

static __device__ __forceinline__ void add_states(float *there, const float more[2][4])
{
    float sums[2][4];
    get_states(there, sums);
#pragma unroll
    for (int i = 0; i < 8; i++)
        sums[i / 4][i % 4] += more[i / 4][i % 4];
    put_states(there, sums);
}

/* Whether a row of a stage is there, and where its array has step `at` of it. */
template <typename stored, int lanes>
static __device__ __forceinline__ bool find_row(const struct selective_args *args, const struct pair_place *place,
                                                int row, int at, const stored **from)
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
    *from = (const stored *)array + ((size_t)array_row * (unsigned)args->seq_len + at);
    return array != NULL && own < (of_states ? (int)args->states : place->here);
}

/* Four steps of a row fly by cp.async, where they are `whole`: all there, at a multiple of their size. Else the first
   `left` are, and the others become 0. float32 is then where it belongs. 16 bits fly to the second half of the place
   where the floats shall be, and land_rows ends it. */
static __device__ __forceinline__ void send4(const float *from, int left, bool whole, float *to)
{
    fetch4(from, left, whole, to, NULL);
}

template <typename stored>
static __device__ __forceinline__ void send4(const stored *from, int left, bool whole, float *to)
{
    if (whole)
        __pipeline_memcpy_async(to + 2, from, 8);
    else
        for (int i = 0; i < 4; i++)
            ((stored *)(to + 2))[i] = i < left ? from[i] : (stored)0.0f;
}

/* Sends off the first `rows` rows of the chunk that begins at step `at`. From the sequence's end on nothing is sent.
   Where all rows and steps are there and aligned, there is nothing to ask. */
template <typename stored, int lanes, int rows>
static __device__ __forceinline__ void fetch_rows(const struct selective_args *args, const struct pair_place *place,
                                                  int at, float *stage)
{
    const int row = piece_row(), t = piece_step(), left = (int)args->seq_len - at;
    const bool aligned = left >= STEPS && args->seq_len % 4 == 0;
    const bool every_row = place->here == BOTH(lanes) && args->states == STATES_OF(lanes) && args->z != NULL;
    float *const to = stage + ::place<STEPS>(row, t);
    const stored *from;
    if (aligned && every_row) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, STEPS); j++)
            if (j * 16 + 16 <= rows || j * 16 + row < rows) {
                find_row<stored, lanes>(args, place, j * 16 + row, at + t, &from);
                send4(from, 4, true, to + j * ROOM(16, STEPS));
            }
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, STEPS); j++)
            if (j * 16 + row < rows && find_row<stored, lanes>(args, place, j * 16 + row, at + t, &from))
                send4(from, left - t, aligned, to + j * ROOM(16, STEPS));
    }
    __pipeline_commit();
}

/* Waits for what fetch_rows has sent. A lane converts what it has sent itself. */
template <typename stored, int lanes, int rows>
static __device__ __forceinline__ void land_rows(const struct selective_args *args, const struct pair_place *place,
                                                 float *stage)
{
    const int row = piece_row();
    const stored *from;
    __pipeline_wait_prior(0);
#pragma unroll
    for (int j = 0; j < PIECES_OF(rows, STEPS) && sizeof(stored) < 4; j++)
        if (j * 16 + row < rows && find_row<stored, lanes>(args, place, j * 16 + row, 0, &from)) {
            float *const to = stage + ::place<STEPS>(row, piece_step()) + j * ROOM(16, STEPS);
            land4(from, to, *(const uint2 *)(to + 2));
        }
}

/* ---- Sums over the states of a channel: lanes that differ in part ---- */

/* The sum of this lane's value for its first channel, and its neighbour's for what is the second one there. */
template <int lanes>
static __device__ __forceinline__ float add_half(const float values[2])
{
    return values[0] + __shfl_xor_sync(0xFFFFFFFFu, values[1], lanes);
}

/* Adds up add_half's sums over the lanes that have the same first channel. Each is left with OWN_STEPS of them. */
template <int lanes>
static __device__ __forceinline__ void fold_states(float sums[STEPS], int part)
{
    fold<lanes / 2, STEPS>(sums, part);
}

template <int lanes>
static __device__ __forceinline__ int first_own_step(int part)
{
    return first_own<lanes / 2, STEPS>(part);
}

/* ---- Sums over the channels of the warp, for each state and step. A lane's i-th state is (i ^ order) lanes + part,
   where `order` are two bits of its channel's number (2, 4 or 8 lanes). So the two states that a lane gives away are
   always its last ones, and those that its neighbour keeps. ---- */

/* Where the lane's i-th state lies among the rows of B or C. */
template <int lanes>
static __device__ __forceinline__ int state_at(int i, int order, int part)
{
    return lanes % 4 == 0 ? (i ^ order) * ROOM(lanes, STEPS) + place<STEPS>(part, 0)
                          : place<STEPS>((i ^ order) * lanes + part, 0);
}

/* The sum of values[0] and of all that belong to the same state, over four lanes. */
template <int lanes>
static __device__ __forceinline__ float add_channels(const float values[4])
{
    const float first = values[0] + __shfl_xor_sync(0xFFFFFFFFu, values[2], 16);
    const float second = values[1] + __shfl_xor_sync(0xFFFFFFFFu, values[3], 16);
    return first + __shfl_xor_sync(0xFFFFFFFFu, second, lanes == 8 ? 1 : 8);
}

/* Adds up add_channels' sums of all 8 steps over the lanes that are left. Each keeps `lanes` of them, those of its
   state 0 from step first_sum(lane) on. */
template <int lanes>
static __device__ __forceinline__ void fold_channels(float sums[STEPS], int lane)
{
    if (lanes < 8)
        fold_once<4>(sums, lane, 1);
    if (lanes < 4)
        fold_once<2>(sums, lane, 4);
}

template <int lanes>
static __device__ __forceinline__ int first_sum(int lane)
{
    return (lanes < 8 ? (lane & 1) * 4 : 0) + (lanes < 4 ? (lane & 4) / 2 : 0);
}

#endif
