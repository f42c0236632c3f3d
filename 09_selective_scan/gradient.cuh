/* gradient.cuh - chapter 09's relay backward: a warp's chunk has twice as many channels as forward (chunk.cuh), and a
   lane has two of them, with four states each. The two stand in rows `row` and `row ^ 2` of a chunk; the lane whose
   number differs in the bit `lanes` has the same two the other way round. With 16 states, four lanes a channel:

       a lane's number   | channel / 4 | channel / 2 % 2 | part % 2 | channel % 2 |     its first channel, its own
                                       | part / 2        |

   Backward all is done for two channels with what is read for one: B and C, and most of the sums over channels, which
   begin inside of a lane. A stage begins with what relay_states.cu needs, and ends with the states before the chunk:

       | u: a row a channel | delta | B: a row a state | C | z | d_out | h: 4 states of each lane's first, of its second |
 */
#ifndef GRADIENT_CUH
#define GRADIENT_CUH

#include "chunk.cuh"

enum { STEPS = RELAY_STEPS };

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

/* The places of the lane's two channels. */
template <int lanes>
static __device__ __forceinline__ void find_places(const struct selective_args *args, struct chunk_place places[2])
{
    const size_t per_group = args->channels / args->groups;
    places[0] = places[1] = place_of<lanes / 2>(args);
    places[1].row ^= 2;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        places[k].part = threadIdx.x / 2 % lanes;
        places[k].channel = places[k].group * per_group + min(places[k].first + places[k].row, per_group - 1);
        places[k].both = places[k].batch * args->channels + places[k].channel;
    }
}

/* A float for each of a lane's states, at `there` for its first channel, 32 lanes' of them before those of its second. */
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

/* Where the warp's first channel begins in arrays like u, and its group's first state in B and C, in rows; and how many
   of either there are. */
struct first_rows {
    size_t channel, state;
    int channels, states;
};

static __device__ __forceinline__ struct first_rows find_rows(const struct selective_args *args,
                                                              const struct chunk_place *place)
{
    struct first_rows rows;
    const size_t group = place->batch * args->groups + place->group;
    rows.channel = group * (args->channels / args->groups) + place->first;
    rows.state = group * args->states;
    rows.channels = place->here, rows.states = (int)args->states;
    return rows;
}

/* Whether a row of a stage is there, and where its array has it. */
template <typename stored, int lanes>
static __device__ __forceinline__ bool find_row(const struct selective_args *args, const struct first_rows *first,
                                                int row, const stored **from)
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
    *from = (const stored *)array + ((of_states ? first->state : first->channel) + own) * args->seq_len;
    return array != NULL && own < (of_states ? first->states : first->channels);
}

/* A lane's first piece of four steps: its row and step. The others follow, each 16 rows behind the one before. With four
   lanes a channel, these are also its own steps. */
static __device__ __forceinline__ int piece_row()
{
    return threadIdx.x % 32 / 4 * 2 + threadIdx.x % 2;
}

static __device__ __forceinline__ int piece_step()
{
    return threadIdx.x / 2 % 2 * 4;
}

/* Sends off the first `rows` rows of the chunk that begins at step `at`. From the sequence's end on nothing is sent. */
template <typename stored, int lanes, int rows>
static __device__ __forceinline__ void fetch_rows(const struct selective_args *args, const struct first_rows *first,
                                                  int at, float *stage, uint2 *held)
{
    const int row = piece_row(), t = piece_step(), left = (int)args->seq_len - at;
    float *const to = stage + place<STEPS>(row, t);
    const stored *from;
    if (left >= STEPS && args->seq_len % 4 == 0) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, STEPS); j++)
            if (j * 16 + row < rows && find_row<stored, lanes>(args, first, j * 16 + row, &from))
                fetch4(from + at + t, 4, true, to + j * ROOM(16, STEPS), &held[j]);
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < PIECES_OF(rows, STEPS); j++)
            if (j * 16 + row < rows && find_row<stored, lanes>(args, first, j * 16 + row, &from))
                fetch4(from + at + t, left - t, false, to + j * ROOM(16, STEPS), &held[j]);
    }
    __pipeline_commit();
}

/* Ends what fetch_rows has begun. */
template <typename stored, int lanes, int rows>
static __device__ __forceinline__ void land_rows(const struct selective_args *args, const struct first_rows *first,
                                                 float *stage, const uint2 *held)
{
    const int row = piece_row(), t = piece_step();
    const stored *from;
#pragma unroll
    for (int j = 0; j < PIECES_OF(rows, STEPS); j++)
        if (j * 16 + row < rows && find_row<stored, lanes>(args, first, j * 16 + row, &from))
            land4(from, stage + place<STEPS>(row, t) + j * ROOM(16, STEPS), held[j]);
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

template <int lanes>
static __device__ __forceinline__ int order_of(int lane)
{
    return (lane & 16 ? 2 : 0) + (lane & (lanes == 8 ? 1 : 8) ? 1 : 0);
}

/* The sum of values[0] and of all that belong to the same state, over four lanes. */
template <int lanes>
static __device__ __forceinline__ float add_channels(const float values[4])
{
    const float first = values[0] + __shfl_xor_sync(0xFFFFFFFFu, values[2], 16);
    const float second = values[1] + __shfl_xor_sync(0xFFFFFFFFu, values[3], 16);
    return first + __shfl_xor_sync(0xFFFFFFFFu, second, lanes == 8 ? 1 : 8);
}

/* Adds up add_channels' sums of all 8 steps over the lanes that are left. Each keeps `lanes` of them, those of its state
   0 from step first_sum(lane) on. */
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
