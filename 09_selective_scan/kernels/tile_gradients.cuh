/* SPDX-License-Identifier: MIT */
/* tile_gradients.cuh - the shared memory of fused_backward.cu and checkpoints_backward.cu: two tiles, and what its
   warps keep beside them; how that gets there, and what the block adds up over its warps. */
#ifndef TILE_GRADIENTS_CUH
#define TILE_GRADIENTS_CUH

#include "gradient_sums.cuh"
#include "tile.cuh"
#include "grid.h"
#include "workspace.h"

template <typename dtype, int lanes>
struct gradients_block {
    struct tile<dtype, lanes, 4, FUSED_WARPS * BOTH(lanes)> tiles[2];
    float states[2][FUSED_WARPS][2][32 * A_LANE];           /* before each chunk of these tiles */
    float sums[2][2][FUSED_WARPS][STATES_OF(lanes) * TILE]; /* d_B and d_C of the warps' channels */
    float steps[FUSED_WARPS][2 * 4 * ROOM(BOTH(lanes), STEPS)];
    float d_A[FUSED_WARPS][32 * A_LANE], so_far[FUSED_WARPS][64]; /* sums over time; d_D and d_bias */
    float before[FUSED_WARPS][32 * A_LANE]; /* of several segments: the states before this one, and */
    float so_long[2][FUSED_WARPS][2][32];   /* the sums of its steps before each chunk, for each channel */
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

/* Sends off the states before the chunks of the tile at step `at`, as far as these are in the sequence; of several
   segments also the sums of the steps. A chunk has `floats` of them in memory. */
template <int lanes>
static __device__ __forceinline__ void fetch_saved(const float *saved, int floats, int at, int seq_len, float *states,
                                                   float *so_long)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++)
        if (at >= 0 && at + chunk * STEPS < seq_len) {
            const float *const from = saved + (size_t)(at / STEPS + chunk) * floats + lane * 4;
            float *const to = states + chunk * 32 * A_LANE + lane * 4;
            __pipeline_memcpy_async(to, from, 16);
            __pipeline_memcpy_async(to + 32 * 4, from + 32 * 4, 16);
            if (floats > 32 * A_LANE && lane < BOTH(lanes) / 4)
                __pipeline_memcpy_async(so_long + chunk * 32 + lane * 4, from + 32 * A_LANE, 16);
        }
}

/* All that a block needs for the tile at step `at`, if it is one, and its warp for `saved_steps` of a sequence. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void
fetch_gradients(const struct selective_args *args, const struct block_place *place, const float *saved, int floats,
                int at, int saved_steps, struct gradients_block<dtype, lanes> *to, int which)
{
    const int warp = threadIdx.x / 32;
    fetch_tile<32 * FUSED_WARPS>(args, place, at, &to->tiles[which]);
    fetch_saved<lanes>(saved, floats, at, saved_steps, to->states[which][warp][0], to->so_long[which][warp][0]);
    __pipeline_commit();
}

/* Of several segments: the states of a tile were saved as if their segment began with 0. `before` is what comes into
   it, and before its first step is as it comes, whatever A is. */
template <int lanes>
static __device__ __forceinline__ void add_before(const float *before, const float *so_long, int row,
                                                  const float A[2][4], float *states)
{
    float more[2][4];
    get_states(before, more);
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        const float sum[2] = {so_long[chunk * 32 + row], so_long[chunk * 32 + (row ^ 2)]};
        float h[2][4];
        get_states(states + chunk * 32 * A_LANE, h);
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                h[k][i] += (sum[k] == 0.0f ? 1.0f : fast_exp2(sum[k] * A[k][i])) * more[k][i];
        put_states(states + chunk * 32 * A_LANE, h);
    }
}

/* Adds up what the warps have left of d_B and d_C in the tile at step `at`. */
template <int lanes>
static __device__ __forceinline__ void add_tile(const struct selective_args *args, const struct selective_parts *parts,
                                                const float sums[2][FUSED_WARPS][STATES_OF(lanes) * TILE], int at)
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
        const size_t out = (size_t)(blockIdx.x * (unsigned)args->states + state) * (unsigned)seq_len + at + t;
        if (state < (int)args->states)
            store<float, 4>((piece < pieces ? parts->d_B : parts->d_C) + out, seq_len - at - t,
                            seq_len % 4 == 0 && at + TILE <= seq_len, sum);
    }
}

#endif
