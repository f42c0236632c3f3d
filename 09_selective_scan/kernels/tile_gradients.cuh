/* SPDX-License-Identifier: MIT */
/* tile_gradients.cuh - the shared memory of fused_backward.cu: two tiles, and what its warps keep beside them; how that
   gets there, and what the block adds up over its warps. */
#ifndef TILE_GRADIENTS_CUH
#define TILE_GRADIENTS_CUH

#include "gradient_sums.cuh"
#include "saved_states.cuh"
#include "tile.cuh"

template <typename dtype, int lanes>
struct gradients_block {
    struct tile<dtype, lanes, 4, FUSED_WARPS * BOTH(lanes)> tiles[2];
    float states[2][FUSED_WARPS][2][32 * A_LANE];           /* before each chunk of these tiles */
    float sums[2][2][FUSED_WARPS][STATES_OF(lanes) * TILE]; /* d_B and d_C of the warps' channels */
    float steps[FUSED_WARPS][2 * 4 * ROOM(BOTH(lanes), STEPS)];
    float d_A[FUSED_WARPS][32 * A_LANE], so_far[FUSED_WARPS][64]; /* sums over time; d_D and d_bias */
    float before[FUSED_WARPS][32 * A_LANE]; /* of several segments: the states before this one, and */
    float so_long[2][FUSED_WARPS][32];      /* the sums of its steps before the span, for each channel */
};

/* Of a warp's chunk: step, step u, d_y = d_out silu(z) and d_out silu'(z), which is d_z but for y: a row a channel. */
#define PREPARED_ROWS(lanes) ROOM(BOTH(lanes), STEPS) /* floats */
#define PREPARED(lanes) (4 * PREPARED_ROWS(lanes))

/* The lane's own steps of both chunks of a tile. Steps from seq_len on become 0, and leave the states as they are. */
template <typename dtype, int lanes, int channels>
static __device__ __forceinline__ void prepare_tile(const struct selective_args *args,
                                                    const struct tile<dtype, lanes, 4, channels> *tile, int channel,
                                                    int row, int mine, int left, float bias, float *steps)
{
    enum { own = OWN_STEPS(lanes) };
    float u[2][own], step[2][own], z[2][own], d_y[2][own];
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        get<TILE, own>(tile->own[0], channel, chunk * STEPS + mine, u[chunk]);
        get<TILE, own>(tile->own[1], channel, chunk * STEPS + mine, step[chunk]);
        get<TILE, own>(tile->own[2], channel, chunk * STEPS + mine, z[chunk]);
        get<TILE, own>(tile->own[3], channel, chunk * STEPS + mine, d_y[chunk]);
    }
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++)
#pragma unroll
        for (int i = 0; i < own; i++) {
            const float d_out = d_y[chunk][i], soft = step_of(step[chunk][i] + bias, args->delta_softplus);
            step[chunk][i] = chunk * STEPS + i < left ? soft : 0.0f;
            u[chunk][i] *= step[chunk][i];
            d_y[chunk][i] = args->z != NULL ? d_out * silu(z[chunk][i]) : d_out;
            z[chunk][i] = d_out * silu_slope(z[chunk][i]);
        }
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        float *const to = steps + chunk * PREPARED(lanes);
        put<STEPS, own>(to, row, mine, step[chunk]);
        put<STEPS, own>(to + PREPARED_ROWS(lanes), row, mine, u[chunk]);
        put<STEPS, own>(to + 2 * PREPARED_ROWS(lanes), row, mine, d_y[chunk]);
        put<STEPS, own>(to + 3 * PREPARED_ROWS(lanes), row, mine, z[chunk]);
    }
}

/* All that a block needs for the tile at step `at`, if it is one: the tile, the states before its spans and, of several
   segments, the sums of the steps before it. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void
fetch_gradients(const struct selective_args *args, const struct selective_parts *parts, const struct block_place *block,
                const struct pair_place *place, int at, struct gradients_block<dtype, lanes> *to, int which)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    fetch_tile<32 * FUSED_WARPS>(args, block, at, &to->tiles[which]);
    if (at >= 0 && place->here > 0) {
        fetch_saved<dtype, lanes>(args, parts, place, at, to->states[which][warp][0] + lane * 4);
        if (parts->segments > 1 && lane < BOTH(lanes) / 4)
            __pipeline_memcpy_async(to->so_long[which][warp] + lane * 4,
                                    so_long_at<lanes>(args, parts, blockIdx.x * FUSED_WARPS + warp, at) + lane * 4, 16);
    }
    __pipeline_commit();
}

/* Of several segments: states were saved as if their segment began with 0. `before` is what comes into it, and before
   its first step is as it comes, whatever A is. Beside the sums of the steps before the tile, `steps` has
   the steps of its first chunk, if the second one is a span, too. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void add_before(const float *before, const float *so_long, const float *steps,
                                                  int row, const float A[2][4], float *states)
{
    float more[2][4], sum[2];
    get_states(before, more);
#pragma unroll
    for (int span = 0; span < SPANS(dtype, lanes); span++) {
        float h[2][4];
        get_states(states + span * 32 * A_LANE, h);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (span == 0) {
                sum[k] = so_long[row ^ 2 * k];
            } else {
                float step[STEPS];
                get<STEPS, STEPS>(steps, row ^ 2 * k, 0, step);
#pragma unroll
                for (int t = 0; t < STEPS; t += 4)
                    sum[k] += step[t] + step[t + 1] + (step[t + 2] + step[t + 3]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                h[k][i] += (sum[k] == 0.0f ? 1.0f : fast_exp2(sum[k] * A[k][i])) * more[k][i];
        }
        put_states(states + span * 32 * A_LANE, h);
    }
}

/* Where a span is a whole tile: takes a lane's states from the tile's first chunk to its second one. */
template <int lanes>
static __device__ __forceinline__ void walk_chunk(const float *steps, const float *B_rows, int row, int part, int order,
                                                  const float A[2][4], float *states)
{
    float h[2][4];
    get_states(states, h);
#pragma unroll
    for (int t = 0; t < STEPS; t += 4) {
        float step[2][4], step_u[2][4];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            get<STEPS, 4>(steps, row ^ 2 * k, t, step[k]);
            get<STEPS, 4>(steps + PREPARED_ROWS(lanes), row ^ 2 * k, t, step_u[k]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float B[4];
            get4(B_rows + state_at<lanes>(i, order, part) + t, B);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int k = 0; k < 2; k++)
                    h[k][i] = fast_exp2(step[k][j] * A[k][i]) * h[k][i] + step_u[k][j] * B[j];
        }
    }
    put_states(states + 32 * A_LANE, h);
}

/* Adds up what the warps have left of d_B and d_C in the tile at step `at`, which is step at - shift in a row of the
   sums. These are partial sums, or the gradients themselves where a group has no other block. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void add_tile(const struct selective_args *args, const struct selective_parts *parts,
                                                const float sums[2][FUSED_WARPS][STATES_OF(lanes) * TILE], int at,
                                                int shift)
{
    enum { pieces = STATES_OF(lanes) * TILE / 4, threads = 32 * FUSED_WARPS };
    const int seq_len = (int)args->seq_len;
#pragma unroll
    for (int j = 0; j < (2 * pieces + threads - 1) / threads; j++) {
        const unsigned piece = threadIdx.x + j * threads;
        if (2 * pieces % threads != 0 && piece >= 2 * pieces)
            break;
        const int state = piece % pieces / (TILE / 4), t = piece % (TILE / 4) * 4;
        float sum[4] = {};
#pragma unroll
        for (int warp = 0; warp < FUSED_WARPS; warp++) {
            float more[4];
            get<TILE, 4>(sums[piece / pieces][warp], state, t, more);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += more[i];
        }
        if (state >= (int)args->states)
            continue;
        const size_t row = blockIdx.x * (unsigned)args->states + state;
        const size_t out = row * (unsigned)parts->sum_steps + (at - shift + t);
        if (parts->per_group > 1)
            store<float, 4>((piece < pieces ? parts->d_B : parts->d_C) + out, 4, true, sum);
        else
            store<dtype, 4>((dtype *)(piece < pieces ? args->d_B : args->d_C) + out, seq_len - at - t,
                            seq_len % 4 == 0 && at + TILE <= seq_len, sum);
    }
}

#endif
