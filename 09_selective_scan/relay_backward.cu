/* relay_backward.cu - the gradients of relay.cu: the warps of a block take the chunks in turn, from last to first.

   relay_states.cu has left the states before each chunk. With them a warp knows all states of its chunk, and all that
   does not depend on the gradients of later steps, before its turn. As in steps_backward.cu,
   with g[t] the gradient of h[t]:

       before its turn   a, h, y, sums of d_C, and what the chunk makes of a gradient that comes: start + product carry
       in its turn       carry = a[t+1] g[t+1] comes from the chunk behind, start + product carry goes to the one before
       after it          g from the true carry, and all other gradients

   The turns go as in relay.cu, but backward in time:      chunk 3 <- chunk 4 <- chunk 5
                                                           warp 2     warp 1     warp 0

   B and C belong to all channels of a group: a warp adds up its own, and leaves one partial sum for each state and step
   (add_up.cu). A lane keeps a * h of each step instead of h: its product with g is what d_A and d_step need. */
#include <arch.h>
#include <cuda_runtime.h>
#include <named_barrier.h>

#include "chunk.cuh"
#include "selective_scan.h"

#define LN_2 0.69314718f

enum { STEPS = RELAY_STEPS };

/* A thread of a channel's four lanes needs 168 registers: 12 warps have them. */
#define WARPS(lanes) ((lanes) == 4 ? 12 : 8)

/* Floats of a stage: its rows, and the states before the chunk. Of a warp: two stages; step,
   step u and d_y; the baton; and d_A, d_D and d_bias so far, for which there are no registers. */
#define STATES_AT(lanes) (ROOM(BACKWARD_ROWS(lanes), STEPS))
#define STAGE_FLOATS(lanes) (STATES_AT(lanes) + 32 * 4)
#define WARP_FLOATS(lanes) (2 * STAGE_FLOATS(lanes) + ROOM(3 * CHANNELS(lanes), STEPS) + 3 * 32 * 4)

/* Sends off the chunk that begins at step `at`, if it is one. */
template <typename stored, int lanes>
static __device__ __forceinline__ void fetch_all(const stored *pieces[], unsigned there, const float *saved, int at,
                                                 int seq_len, int lane, float *stage, uint2 *held)
{
    if (at >= 0)
        __pipeline_memcpy_async(stage + STATES_AT(lanes) + lane * 4, saved + ((size_t)(at / STEPS) * 32 + lane) * 4,
                                16);
    fetch<stored, lanes, STEPS, BACKWARD_ROWS(lanes)>(pieces, there, at >= 0 ? at : seq_len, -WARPS(lanes) * STEPS,
                                                      seq_len, stage, held);
}

template <typename stored, int lanes>
static __global__ void __launch_bounds__(LINREC_ARCH >= 800 ? 32 * WARPS(lanes) : 256, 1) /* older: not launched */
    relay_backward(struct selective_args args, struct selective_parts parts)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes), rows = BACKWARD_ROWS(lanes), own = STEPS / lanes };
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = lane / 2 % lanes, order = order_of<lanes>(lane);
    const int row = lane / (2 * lanes) * 2 + lane % 2, mine = first_own<lanes, STEPS>(part);
    float *const stages = (float *)shared + warp * WARP_FLOATS(lanes);
    float *const steps = stages + 2 * STAGE_FLOATS(lanes), *const baton = steps + ROOM(3 * channels, STEPS) + lane * 4;
    const int follower = (warp + 1) % WARPS(lanes);
    float *const to_follower = baton + (follower - warp) * WARP_FLOATS(lanes);
    const int seq_len = (int)args.seq_len, chunks = (seq_len - 1) / STEPS + 1;
    const size_t per_group = args.channels / args.groups;
    const size_t group = blockIdx.x / parts.per_group % args.groups, batch = blockIdx.x / parts.per_group / args.groups;
    const size_t first = blockIdx.x % parts.per_group * channels;
    const int here = (int)min(per_group - first, (size_t)channels);
    const size_t channel = group * per_group + first + (row < here ? row : 0); /* a lane without one adds 0 */
    const size_t both = batch * args.channels + channel;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    const float *const saved = parts.rest + ((size_t)blockIdx.x * chunks * 32) * 4;
    const size_t sum_at = first_sum<lanes>(lane), sum_state = order * lanes + part;
    const size_t sums_row = (blockIdx.x * args.states + sum_state) * seq_len + sum_at;
    int at = (chunks - 1 - warp) * STEPS;
    const stored *pieces[PIECES_OF(rows, STEPS)];
    const unsigned there = find_pieces<stored, lanes, STEPS, rows>(&args, batch, group, first, here, at, pieces);
    uint2 held_first[PIECES_OF(rows, STEPS)] = {};
    float A[4], carry[4], zeros[4] = {};
    float *const so_far = baton + 32 * 4, *const more_so_far = so_far + 32 * 4; /* d_A; d_D and d_bias */
    put<4, 4>(so_far, 0, 0, zeros);
    put<4, 4>(more_so_far, 0, 0, zeros);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const size_t n = (i ^ order) * lanes + part;
        A[i] = n < args.states ? args.A[channel * args.states + n] * LOG2_E : 0.0f;
        carry[i] = n < args.states && row < here && args.d_final_state != NULL
                       ? args.d_final_state[both * args.states + n]
                       : 0.0f;
    }
    if (args.states < states || here < channels)
        for (int i = lane; i < 2 * STAGE_FLOATS(lanes); i += 32)
            stages[i] = 0.0f; /* what is not there */
    __syncwarp();
    if (warp == WARPS(lanes) - 1) { /* the last warp has the turn before the first */
        put<4, 4>(to_follower, 0, 0, carry);
        named_barrier_arrive(1, 64);
    }

    fetch_all<stored, lanes>(pieces, there, saved, at, seq_len, lane, stages, held_first);
    land<stored, lanes, STEPS, rows>(pieces, there, stages, held_first);
    for (int turn = 0; at >= 0; at -= WARPS(lanes) * STEPS, turn = 1 - turn) {
        float *const stage = stages + turn * STAGE_FLOATS(lanes), *const next =
                                                                      stages + (1 - turn) * STAGE_FLOATS(lanes);
        const bool whole = at + STEPS <= seq_len && seq_len % 4 == 0;
        __pipeline_wait_prior(0);
        __syncwarp(); /* the chunk has come, and no lane needs `next` and `steps` any more */
        uint2 held[PIECES_OF(rows, STEPS)] = {};
        fetch_all<stored, lanes>(pieces, there, saved, at - WARPS(lanes) * STEPS, seq_len, lane, next, held);
        prepare<lanes, STEPS>(stage, row, mine, at + mine, seq_len, bias, args.delta_softplus, steps);
        float d_out[own], z[own], d_y[own];
        get<STEPS, own>(stage + ROOM(ROW_D_OUT(lanes), STEPS), row, mine, d_out);
        get<STEPS, own>(stage + ROOM(ROW_Z(lanes), STEPS), row, mine, z);
#pragma unroll
        for (int i = 0; i < own; i++)
            d_y[i] = args.z != NULL ? d_out[i] * silu(z[i]) : d_out[i];
        put<STEPS, own>(steps + ROOM(2 * channels, STEPS), row, mine, d_y);
        __syncwarp();

        /* 1. Before the turn: all states, d_C, d_z, and what the chunk makes of a gradient. */
        float a[STEPS][4], kept[STEPS][4], y[STEPS] = {}, sums[STEPS];
        float h[4], product[4] = {1.0f, 1.0f, 1.0f, 1.0f}, start[4] = {}, note[4];
        get<4, 4>(stage + STATES_AT(lanes), lane, 0, h);
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], d_y[4], now[4][4];
            get<STEPS, 4>(steps, row, t, step);
            get<STEPS, 4>(steps + ROOM(channels, STEPS), row, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float B[4];
                get<STEPS, 4>(stage + ROOM(ROW_B(lanes), STEPS), (i ^ order) * lanes + part, t, B);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    a[t + j][i] = fast_exp2(step[j] * A[i]);
                    kept[t + j][i] = a[t + j][i] * h[i];
                    h[i] = now[j][i] = kept[t + j][i] + step_u[j] * B[j];
                }
            }
            get<STEPS, 4>(steps + ROOM(2 * channels, STEPS), row, t, d_y);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float C[4];
                get<STEPS, 4>(stage + ROOM(ROW_C(lanes), STEPS), (i ^ order) * lanes + part, t, C);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    y[t + j] += C[j] * now[j][i];
                    now[j][i] *= d_y[j];
                    product[i] *= a[t + j][i];
                    start[i] += product[i] * (d_y[j] * C[j]);
                }
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[t + j] = add_channels<lanes>(now[j]);
        }
        fold_channels<lanes>(sums, lane);
        if (sum_state < args.states)
            store<float, lanes>(parts.d_C + sums_row + at, seq_len - at - (int)sum_at, whole, sums);
        if (args.z != NULL) {
            float u[own];
            fold<lanes, STEPS>(y, part);
            get<STEPS, own>(stage, row, mine, u);
            get<STEPS, own>(stage + ROOM(ROW_D_OUT(lanes), STEPS), row, mine, d_out);
            get<STEPS, own>(stage + ROOM(ROW_Z(lanes), STEPS), row, mine, z);
#pragma unroll
            for (int i = 0; i < own; i++)
                y[i] = d_out[i] * (y[i] + D * u[i]) * silu_slope(z[i]);
            if (row < here)
                store<stored, own>((stored *)args.d_z + both * seq_len + at + mine, seq_len - at - mine, whole, y);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            note[i] = product[i] + start[i];
        put<4, 4>(stage + STATES_AT(lanes), lane, 0, note); /* nobody reads it: see relay.cu */

        land<stored, lanes, STEPS, rows>(pieces, there, next, held);

        /* 2. The turn. */
        named_barrier_sync(warp + 1, 64);
        get<4, 4>(baton, 0, 0, carry);
#pragma unroll
        for (int i = 0; i < 4; i++)
            start[i] = product[i] * carry[i] + start[i];
        if (at > 0) {
            put<4, 4>(to_follower, 0, 0, start);
            named_barrier_arrive(follower + 1, 64);
        }

        /* 3. After it: the gradients. */
        float d_input[STEPS] = {}, d_step[STEPS] = {}, chunk_A[4] = {}, chunk_D = 0.0f, chunk_bias = 0.0f;
#pragma unroll
        for (int t = STEPS - 4; t >= 0; t -= 4) {
            float step[4], step_u[4], d_y[4], g[4][4];
            get<STEPS, 4>(steps + ROOM(2 * channels, STEPS), row, t, d_y);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float C[4];
                get<STEPS, 4>(stage + ROOM(ROW_C(lanes), STEPS), (i ^ order) * lanes + part, t, C);
#pragma unroll
                for (int j = 3; j >= 0; j--) {
                    g[j][i] = d_y[j] * C[j] + carry[i];
                    carry[i] = a[t + j][i] * g[j][i];
                }
            }
            get<STEPS, 4>(steps, row, t, step);
            get<STEPS, 4>(steps + ROOM(channels, STEPS), row, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float B[4];
                get<STEPS, 4>(stage + ROOM(ROW_B(lanes), STEPS), (i ^ order) * lanes + part, t, B);
#pragma unroll
                for (int j = 3; j >= 0; j--) {
                    const float g_kept = g[j][i] * kept[t + j][i];
                    d_input[t + j] += g[j][i] * B[j];
                    d_step[t + j] += g_kept * A[i];
                    if (at + t + j < seq_len) /* an infinite state behind the last step belongs to no gradient */
                        chunk_A[i] += g_kept * step[j];
                    g[j][i] *= step_u[j];
                }
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[t + j] = add_channels<lanes>(g[j]);
        }
        fold_channels<lanes>(sums, lane);
        if (sum_state < args.states)
            store<float, lanes>(parts.d_B + sums_row + at, seq_len - at - (int)sum_at, whole, sums);
        fold<lanes, STEPS>(d_input, part);
        fold<lanes, STEPS>(d_step, part);
        float u[own], delta[own], step[own];
        get<STEPS, own>(stage, row, mine, u);
        get<STEPS, own>(stage + ROOM(ROW_DELTA(lanes), STEPS), row, mine, delta);
        get<STEPS, own>(steps, row, mine, step);
        get<STEPS, own>(steps + ROOM(2 * channels, STEPS), row, mine, d_y);
#pragma unroll
        for (int i = 0; i < own; i++) {
            /* x - x is 0, or NaN for an infinite x, which stood in a sum over the states with either sign. */
            d_step[i] = d_step[i] * LN_2 + (d_input[i] * u[i] + (u[i] - u[i]));
            d_input[i] = d_input[i] * step[i] + (D * d_y[i] + (step[i] - step[i]));
            if (args.delta_softplus)
                d_step[i] *= sigmoid(delta[i] + bias);
            chunk_D += d_y[i] * u[i];
            if (at + mine + i < seq_len)
                chunk_bias += d_step[i];
        }
        more_so_far[0] += chunk_D, more_so_far[1] += chunk_bias;
        float d_A[4];
        get<4, 4>(so_far, 0, 0, d_A);
#pragma unroll
        for (int i = 0; i < 4; i++)
            d_A[i] += chunk_A[i];
        put<4, 4>(so_far, 0, 0, d_A);
        if (row < here) {
            const size_t to = both * seq_len + at + mine;
            store<stored, own>((stored *)args.d_u + to, seq_len - at - mine, whole, d_input);
            store<stored, own>((stored *)args.d_delta + to, seq_len - at - mine, whole, d_step);
        }
        if (at == 0 && row < here && args.d_initial_state != NULL)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if ((size_t)((i ^ order) * lanes + part) < args.states)
                    args.d_initial_state[both * args.states + (i ^ order) * lanes + part] = carry[i];
    }

    /* Sums over time: the first warp adds up those of all. */
    __syncthreads();
    if (warp != 0)
        return;
    float d_A[4] = {}, d_D = 0.0f, d_bias = 0.0f;
    for (int w = 0; w < WARPS(lanes); w++) {
        float more[4];
        get<4, 4>(so_far + w * WARP_FLOATS(lanes), 0, 0, more);
        for (int i = 0; i < 4; i++)
            d_A[i] += more[i];
        d_D += more_so_far[w * WARP_FLOATS(lanes)], d_bias += more_so_far[w * WARP_FLOATS(lanes) + 1];
    }
    for (int bit = 2; bit < 2 * lanes; bit *= 2) {
        d_D += __shfl_xor_sync(0xFFFFFFFFu, d_D, bit);
        d_bias += __shfl_xor_sync(0xFFFFFFFFu, d_bias, bit);
    }
    if (row < here)
        for (int i = 0; i < 4; i++)
            if ((size_t)((i ^ order) * lanes + part) < args.states)
                parts.d_A[both * args.states + (i ^ order) * lanes + part] = d_A[i];
    if (row < here && part == 0)
        parts.d_D[both] = d_D, parts.d_bias[both] = d_bias;
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    const size_t lanes = selective_relay_lanes(args), blocks = args->batch * args->groups * parts->per_group;
    void (*const kernel)(struct selective_args, struct selective_parts) = lanes == 2   ? relay_backward<stored, 2>
                                                                          : lanes == 4 ? relay_backward<stored, 4>
                                                                                       : relay_backward<stored, 8>;
    const size_t floats = WARPS(lanes) * (lanes == 2 ? WARP_FLOATS(2) : lanes == 4 ? WARP_FLOATS(4) : WARP_FLOATS(8));
    const cudaError_t error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   (int)(floats * sizeof(float)));
    if (error != cudaSuccess)
        return error;
    kernel<<<(unsigned)blocks, 32 * WARPS(lanes), floats * sizeof(float), stream>>>(*args, *parts);
    return cudaGetLastError();
}

extern "C" cudaError_t selective_relay_backward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, true, selective_relay_workspace(args, true));
    if (error != cudaSuccess || args->states > RELAY_STATES || args->seq_len > SELECTIVE_INT_STEPS)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    const struct selective_parts parts = selective_parts_of(args, selective_relay_blocks(args));
    if (args->batch * args->groups * parts.per_group > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaError_t walked = selective_relay_states(args, &parts, stream);
    if (walked != cudaSuccess)
        return walked;
    const cudaError_t launched = args->storage == BF16   ? launch<__nv_bfloat16>(args, &parts, stream)
                                 : args->storage == FP16 ? launch<__half>(args, &parts, stream)
                                                         : launch<float>(args, &parts, stream);
    return launched != cudaSuccess ? launched : selective_add_up(args, &parts, stream);
}
