/* SPDX-License-Identifier: MIT */
/* state_passing.cu - fused_steps.cu for few channels, or one long sequence: the warps of a block take one chunk of time
   each, and pass the state from chunk to chunk.

   2048 channels of one batch are 256 warps, two for each multiprocessor, which can hold sixteen. More of them need more
   work at once, and there is nothing left but time. Eight warps have the same channels and every eighth chunk. All that
   costs much, the exponentials, does not depend on the state, and a warp does it before the state comes. |h| is where
   the state comes, and goes on to the next warp:

       warp 0   exponentials of chunk 0 |h| y                     exponentials of chunk 8 |h| y
       warp 1   exponentials of chunk 1    |h| y                     exponentials of chunk 9 |h| y
       warp 2   exponentials of chunk 2       |h| y
                                            mailbox: the state, lane by lane, through shared memory

   What a chunk makes of the state that comes in is known before it comes (chapter 04's pair): end + product h, where
   end is the chunk's last state if it begins with 0, and product = exp(A times the sum of its steps). So the state goes
   on after one multiplication and addition, before the warp computes its outputs from the true state. */
#include <cuda_runtime.h>
#include "../../common/cuda/named_barrier.h"

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "warp_stage.cuh"
#include "grid.h"
#include "selective_check.h"

enum { STEPS = 8, WARPS = 8 };

/* Floats of a warp: two stages, step and step u, the mailbox, and a note (below). */
#define WARP_FLOATS(lanes) (2 * STAGE(lanes, STEPS) + ROOM(2 * CHANNELS(lanes), STEPS) + 2 * 32 * 4)

template <typename dtype, int lanes>
static __global__ void __launch_bounds__(32 * WARPS, lanes == 4 && (DEVICE_ARCH >= 90 || sizeof(dtype) == 4) ? 2 : 1)
    state_passing_forward(struct selective_args args)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes), round = WARPS * STEPS };
    enum { stage_bytes = STAGE(lanes, STEPS) * sizeof(float) };
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    float *const stage = (float *)shared + warp * WARP_FLOATS(lanes);
    float *const steps = stage + 2 * STAGE(lanes, STEPS);
    float *const mailbox = steps + ROOM(2 * channels, STEPS) + lane * 4, *const note = mailbox + 32 * 4;
    const int next_warp = (warp + 1) % WARPS;
    float *const next_mailbox = mailbox + (next_warp - warp) * WARP_FLOATS(lanes);
    const struct chunk_place where = place_of<lanes>(&args);
    const int part = where.part, row = where.row, mine = first_own<lanes, STEPS>(part);
    const float *const own_steps = steps + swizzled<STEPS>(row, 0);
    const float *const B_rows = stage + swizzled<STEPS>(ROW_B(lanes) + part, 0);
    const float bias = args.delta_bias != NULL ? args.delta_bias[where.channel] : 0.0f;
    const float D = args.D != NULL ? args.D[where.channel] : 0.0f;
    const dtype *pieces[PIECES(lanes, STEPS)];
    const unsigned there = find_pieces<dtype, lanes, STEPS>(&args, where.batch, where.group, where.first, where.here,
                                                            warp * STEPS, pieces);
    uint2 held[PIECES(lanes, STEPS)] = {};
    dtype *out = (dtype *)args.out + where.both * seq_len + warp * STEPS + mine;
    float A[4], h[4];
    load_states<lanes>(&args, &where, args.initial_state, A, h);
    for (int i = lane; i < 2 * STAGE(lanes, STEPS) && args.states < states; i += 32)
        stage[i] = 0.0f; /* B and C of states that are not there */
    __syncwarp();
    if (warp == WARPS - 1) { /* the last warp passes the first state to warp 0 */
        put<4, 4>(next_mailbox, 0, 0, h);
        named_barrier_arrive(1, 64);
    }
    int now = 0; /* where the stage of this chunk lies; that of the next one is the other */
    fetch<dtype, lanes, STEPS>(pieces, there, warp * STEPS, round, seq_len, stage, held);
    land<dtype, lanes, STEPS>(pieces, there, stage, held);

    /* A chunk. `whole`: it and the warp's next one are, in every respect, and the compiler knows it. */
    const auto take = [&](const bool whole, const int at) {
        __pipeline_wait_prior(0);
        __syncwarp(); /* the chunk has come, and no lane needs `next` and `steps` any more */
        fetch<dtype, lanes, STEPS>(pieces, there, at + round, round, seq_len, behind(stage, stage_bytes - now), held,
                                   whole);
        prepare<lanes, STEPS>(behind(stage, now), row, mine, at + mine, seq_len, bias, args.delta_softplus, steps,
                              whole);
        __syncwarp();

        /* [before] Before the state comes: all exponentials, and the chunk from state 0. */
        float a[STEPS][4], x[STEPS][4], end[4] = {}, product[4], noted[4], sum = 0.0f;
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], B[4][4];
            get4(own_steps + t, step);
            get4(own_steps + ROOM(channels, STEPS) + t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++)
                get4(behind(B_rows, now) + swizzled<STEPS>(i * lanes, t), B[i]);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum += step[j];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    a[t + j][i] = fast_exp2(step[j] * A[i]);
                    if (!whole && at + t + j >= seq_len)
                        a[t + j][i] = 1.0f; /* behind the end, where exp(0 A) is NaN for an infinite A */
                    x[t + j][i] = step_u[j] * B[i][j];
                    end[i] = a[t + j][i] * end[i] + x[t + j][i];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            product[i] = fast_exp2(sum * A[i]), noted[i] = product[i] + end[i];
        put<4, 4>(note, 0, 0, noted); /* nobody reads it; without it the compiler does all this behind the barrier */

        /* [pass] The state comes, and goes on to the next warp. */
        named_barrier_sync(warp + 1, 64);
        get<4, 4>(mailbox, 0, 0, h);
#pragma unroll
        for (int i = 0; i < 4; i++)
            end[i] = product[i] * h[i] + end[i];
        if (whole || at + STEPS < seq_len) {
            put<4, 4>(next_mailbox, 0, 0, end);
            named_barrier_arrive(next_warp + 1, 64);
        }

        /* [behind] The chunk from the true state. */
        float y[STEPS] = {};
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float C[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                get4(behind(B_rows, now) + swizzled<STEPS>(states + i * lanes, t), C[i]);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    h[i] = a[t + j][i] * h[i] + x[t + j][i];
                    y[t + j] += C[i][j] * h[i];
                }
        }
        finish<dtype, lanes, STEPS>(&args, &where, behind(stage, now), D, seq_len - at, whole, out, y);
        land<dtype, lanes, STEPS>(pieces, there, behind(stage, stage_bytes - now), held);
        if (!whole && at + STEPS >= seq_len)
            store_states<lanes>(&args, &where, h, args.final_state);
        now = stage_bytes - now, out += round;
    };
    int begin = 0; /* of a round, in which each warp has a chunk */
    if (seq_len % 4 == 0 && args.z != NULL && args.states == states && where.full)
        for (; begin <= seq_len - 2 * round; begin += round)
            take(true, begin + warp * STEPS);
    for (int at = begin + warp * STEPS; at < seq_len; at += round)
        take(false, at);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t lanes = selective_state_passing_lanes(args);
    const size_t blocks = args->batch * args->groups * selective_state_passing_blocks(args);
    void (*const kernel)(struct selective_args) = lanes == 2   ? state_passing_forward<dtype, 2>
                                                  : lanes == 4 ? state_passing_forward<dtype, 4>
                                                               : state_passing_forward<dtype, 8>;
    const size_t floats = WARPS * (lanes == 2 ? WARP_FLOATS(2) : lanes == 4 ? WARP_FLOATS(4) : WARP_FLOATS(8));
    const cudaError_t error = gpu_allow_shared((const void *)kernel, floats * sizeof(float), 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 32 * WARPS, floats * sizeof(float), stream);
    return cudaLaunchKernelEx(&launch, kernel, *args);
}

extern "C" cudaError_t selective_state_passing_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess || !selective_state_passing_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->dtype == FP16 ? launch<__half>(args, stream)
                                 : launch<float>(args, stream);
}
