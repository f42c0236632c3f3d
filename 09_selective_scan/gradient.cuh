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
    places[0] = place_of<lanes / 2>(args);
    places[0].part = threadIdx.x / 2 % lanes;
    places[1] = places[0];
    places[1].row ^= 2;
    const size_t first = places[0].channel - (places[0].row < places[0].here ? places[0].row : 0);
    places[1].channel = first + (places[1].row < places[1].here ? places[1].row : 0);
    places[1].both = places[1].batch * args->channels + places[1].channel;
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

/* As chunk.cuh's find_pieces, for the first `rows` rows of this stage. */
template <typename stored, int lanes, int rows>
static __device__ __forceinline__ unsigned find_rows(const struct selective_args *args, const struct chunk_place *place,
                                                     int at, const stored *pieces[])
{
    enum { channels = BOTH(lanes), states = STATES_OF(lanes), delta = channels, B = 2 * channels, C = B + states };
    enum { z = C + states, d_out = z + channels };
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES_OF(rows, STEPS); j++) {
        const int piece = threadIdx.x % 32 + j * 32, row = piece / (STEPS / 4), t = piece % (STEPS / 4) * 4;
        const bool of_states = row >= B && row < z;
        const int own = of_states ? (row - B) % states : (row < B ? row : row - z) % channels;
        const void *const array = row < delta   ? args->u
                                  : row < B     ? args->delta
                                  : row < C     ? args->B
                                  : row < z     ? args->C
                                  : row < d_out ? args->z
                                                : args->d_out;
        const size_t array_row = of_states ? (place->batch * args->groups + place->group) * args->states + own
                                           : place->batch * args->channels +
                                                 args->channels / args->groups * place->group + place->first + own;
        pieces[j] = (const stored *)array + array_row * args->seq_len + at + t;
        if (row < rows && array != NULL && own < (of_states ? (int)args->states : place->here))
            there |= 1u << j;
    }
    return there;
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
