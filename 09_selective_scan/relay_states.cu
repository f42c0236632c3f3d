/* relay_states.cu - relay.cu without the output: it walks forward through time only to leave the states before each
   chunk of 8 steps in the workspace, where relay_backward.cu finds them.

       chunk 0      chunk 1      chunk 2      ...
       |h           |h           |h                      4 floats a lane, as relay_backward.cu's lane will read them

   So a warp needs neither C nor z, and is done with a chunk once it has handed the states on. */
#include <cuda_runtime.h>
#include <named_barrier.h>

#include "../05_pipe/pipe.h"
#include "chunk.cuh"
#include "selective_scan.h"

enum { STEPS = RELAY_STEPS, WARPS = RELAY_WARPS };

/* Floats of a warp: two stages, step and step u, the baton, and a note. */
#define WARP_FLOATS(lanes) (2 * STAGE(lanes, STEPS) + ROOM(2 * CHANNELS(lanes), STEPS) + 2 * 32 * 4)

template <typename stored, int lanes>
static __global__ void __launch_bounds__(32 * WARPS, lanes == 4 ? 3 : 1)
    relay_states(struct selective_args args, float *saved)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes) };
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, order = order_of<lanes>(lane);
    const struct chunk_place place = place_of<lanes>(&args); /* a lane without a channel has h = 0 */
    const int part = place.part, row = place.row, mine = first_own<lanes, STEPS>(part);
    float *stage = (float *)shared + warp * WARP_FLOATS(lanes), *next = stage + STAGE(lanes, STEPS);
    float *const steps = next + STAGE(lanes, STEPS), *const baton = steps + ROOM(2 * channels, STEPS) + lane * 4;
    float *const note = baton + 32 * 4;
    const int follower = (warp + 1) % WARPS;
    float *const to_follower = baton + (follower - warp) * WARP_FLOATS(lanes);
    const int seq_len = (int)args.seq_len, chunks = (seq_len - 1) / STEPS + 1;
    const float bias = args.delta_bias != NULL ? args.delta_bias[place.channel] : 0.0f;
    const stored *pieces[PIECES(lanes, STEPS)];
    const unsigned there = find_pieces<stored, lanes, STEPS>(&args, place.batch, place.group, place.first, place.here,
                                                             warp * STEPS, pieces);
    uint2 held[PIECES(lanes, STEPS)] = {};
    float A[4], h[4];
    load_states<lanes>(&args, &place, args.initial_state, A, h, order);
    saved += ((size_t)blockIdx.x * chunks * 32 + lane) * 4;
    if (args.states < states || place.here < channels)
        for (int i = lane; i < 2 * STAGE(lanes, STEPS); i += 32)
            stage[i] = 0.0f; /* what is not there */
    __syncwarp();
    if (warp == WARPS - 1) { /* the last warp has the turn before the first */
        put<4, 4>(to_follower, 0, 0, h);
        named_barrier_arrive(1, 64);
    }

    fetch<stored, lanes, STEPS>(pieces, there, warp * STEPS, WARPS * STEPS, seq_len, stage, held);
    land<stored, lanes, STEPS>(pieces, there, stage, held);
    for (int at = warp * STEPS; at < seq_len; at += WARPS * STEPS) {
        __pipeline_wait_prior(0);
        __syncwarp(); /* the chunk has come, and no lane needs `next` and `steps` any more */
        fetch<stored, lanes, STEPS>(pieces, there, at + WARPS * STEPS, WARPS * STEPS, seq_len, next, held);
        prepare<lanes, STEPS>(stage, row, mine, at + mine, seq_len, bias, args.delta_softplus, steps);
        __syncwarp();

        /* Before the turn: the chunk from state 0. */
        float end[4] = {}, product[4], noted[4], sum = 0.0f;
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], B[4][4];
            get<STEPS, 4>(steps, row, t, step);
            get<STEPS, 4>(steps + ROOM(channels, STEPS), row, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++)
                get<STEPS, 4>(stage + ROOM(ROW_B(lanes), STEPS), (i ^ order) * lanes + part, t, B[i]);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum += step[j];
#pragma unroll
                for (int i = 0; i < 4; i++)
                    end[i] = fast_exp2(step[j] * A[i]) * end[i] + step_u[j] * B[i][j];
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            product[i] = fast_exp2(sum * A[i]);
            noted[i] = product[i] + end[i];
        }
        put<4, 4>(note, 0, 0, noted); /* nobody reads it: see relay.cu */

        /* The turn. */
        named_barrier_sync(warp + 1, 64);
        get<4, 4>(baton, 0, 0, h);
#pragma unroll
        for (int i = 0; i < 4; i++)
            end[i] = product[i] * h[i] + end[i];
        if (at + STEPS < seq_len) {
            put<4, 4>(to_follower, 0, 0, end);
            named_barrier_arrive(follower + 1, 64);
        }
        put<4, 4>(saved + (size_t)(at / STEPS) * 32 * 4, 0, 0, h);
        land<stored, lanes, STEPS>(pieces, there, next, held);
        float *const done = stage;
        stage = next, next = done;
    }
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    struct selective_args needed = *args;
    needed.z = needed.C = NULL;
    const size_t lanes = selective_relay_lanes(args);
    const size_t blocks = args->batch * args->groups * selective_relay_blocks(args);
    void (*const kernel)(struct selective_args, float *) = lanes == 2   ? relay_states<stored, 2>
                                                           : lanes == 4 ? relay_states<stored, 4>
                                                                        : relay_states<stored, 8>;
    const size_t floats = WARPS * (lanes == 2 ? WARP_FLOATS(2) : lanes == 4 ? WARP_FLOATS(4) : WARP_FLOATS(8));
    const cudaError_t error = pipe_allow_shared((const void *)kernel, floats * sizeof(float), 80);
    if (error == cudaSuccess)
        kernel<<<(unsigned)blocks, 32 * WARPS, floats * sizeof(float), stream>>>(needed, parts->rest);
    return error != cudaSuccess ? error : cudaGetLastError();
}

extern "C" cudaError_t selective_relay_states(const struct selective_args *args, const struct selective_parts *parts,
                                              cudaStream_t stream)
{
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, parts, stream)
           : args->storage == FP16 ? launch<__half>(args, parts, stream)
                                   : launch<float>(args, parts, stream);
}
