/* SPDX-License-Identifier: MIT */
/* state_passing_states.cu - state_passing.cu without the output: it goes forward through time only to leave the states
   before each chunk of 8 steps in the workspace, where state_passing_backward.cu finds them.

       chunk 0      chunk 1      chunk 2      ...
       |h           |h           |h           eight floats a lane, as a lane of state_passing_backward.cu will read them

   So a warp needs neither C nor z nor d_out, and is done with a chunk once it has passed the states on. A lane has two
   channels, as channel_pairs.cuh says. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>
#include "../../common/cuda/named_barrier.h"

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "gradient_stage.cuh"
#include "own_steps.cuh"
#include "grid.h"
#include "workspace.h"

#define WARPS(lanes) ((lanes) == 2 ? 4 : 8)

/* Floats of a warp: two stages, step and step u, the mailbox, and a note. */
#define WARP_FLOATS(lanes) (2 * C_AT(lanes) + ROOM(2 * BOTH(lanes), STEPS) + 2 * 32 * A_LANE)

template <typename dtype, int lanes>
static __global__ void __launch_bounds__(32 * WARPS(lanes), lanes == 4 ? 2 : 1)
    state_passing_states(struct selective_args args, float *saved)
{
    enum { rows = HALF_ROWS(lanes), warps = WARPS(lanes) };
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const struct pair_place place = place_pair<lanes>(&args);
    const int part = place.part, row = place.row, mine = first_own_step<lanes>(part);
    float *stage = (float *)shared + warp * WARP_FLOATS(lanes), *next = stage + C_AT(lanes);
    float *const steps = next + C_AT(lanes), *const mailbox = steps + ROOM(2 * BOTH(lanes), STEPS) + lane * 4;
    float *const note = mailbox + 32 * A_LANE;
    const int next_warp = (warp + 1) % warps;
    float *const next_mailbox = mailbox + (next_warp - warp) * WARP_FLOATS(lanes);
    const int seq_len = (int)args.seq_len, chunks = (seq_len - 1) / STEPS + 1;
    const float bias = args.delta_bias != NULL && row < place.here ? args.delta_bias[place.channel + row] : 0.0f;
    float A[2][4], h[2][4];
    load_A<lanes>(&args, &place, A);
    load_pair<lanes>(&args, &place, place.channels, args.initial_state, h);
    saved += ((size_t)blockIdx.x * chunks * A_LANE * 32) + lane * 4;
    if (args.states < STATES_OF(lanes) || place.here < BOTH(lanes))
        for (int i = lane; i < 2 * C_AT(lanes); i += 32)
            stage[i] = 0.0f; /* what is not there */
    __syncwarp();
    if (warp == warps - 1) { /* the last warp passes the first state to warp 0 */
        put_states(next_mailbox, h);
        named_barrier_arrive(1, 64);
    }

    fetch_rows<dtype, lanes, rows>(&args, &place, warp * STEPS, stage);
    for (int at = warp * STEPS; at < seq_len; at += warps * STEPS) {
        land_rows<dtype, lanes, rows>(&args, &place, stage);
        __syncwarp(); /* the chunk has come, and no lane needs `next` and `steps` any more */
        fetch_rows<dtype, lanes, rows>(&args, &place, at + warps * STEPS, next);
        prepare<lanes / 2, STEPS>(stage, row, mine, at + mine, seq_len, bias, args.delta_softplus, steps);
        __syncwarp();

        /* Before the state comes: the chunk from state 0. */
        float end[2][4] = {}, product[2][4], noted[2][4], sum[2] = {};
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[2][4], step_u[2][4];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                get<STEPS, 4>(steps, row ^ 2 * k, t, step[k]);
                get<STEPS, 4>(steps + ROOM(BOTH(lanes), STEPS), row ^ 2 * k, t, step_u[k]);
                sum[k] += step[k][0] + step[k][1] + (step[k][2] + step[k][3]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float B[4];
                get4(stage + B_AT(lanes) + state_at<lanes>(i, place.order, part) + t, B);
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int k = 0; k < 2; k++)
                        end[k][i] = fast_exp2(step[k][j] * A[k][i]) * end[k][i] + step_u[k][j] * B[j];
            }
        }
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                product[k][i] = fast_exp2(sum[k] * A[k][i]);
                noted[k][i] = product[k][i] + end[k][i];
            }
        put_states(note, noted); /* nobody reads it: see state_passing.cu */

        /* The state comes, and goes on to the next warp. */
        named_barrier_sync(warp + 1, 64);
        get_states(mailbox, h);
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                end[k][i] = product[k][i] * h[k][i] + end[k][i];
        if (at + STEPS < seq_len) {
            put_states(next_mailbox, end);
            named_barrier_arrive(next_warp + 1, 64);
        }
        put_states(saved + (size_t)(at / STEPS) * A_LANE * 32, h);
        float *const done = stage;
        stage = next, next = done;
    }
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    const size_t lanes = selective_state_passing_lanes(args), blocks = args->batch * args->groups * parts->per_group;
    void (*const kernel)(struct selective_args, float *) = lanes == 2   ? state_passing_states<dtype, 2>
                                                           : lanes == 4 ? state_passing_states<dtype, 4>
                                                                        : state_passing_states<dtype, 8>;
    const size_t floats = WARPS(lanes) * (lanes == 2 ? WARP_FLOATS(2) : lanes == 4 ? WARP_FLOATS(4) : WARP_FLOATS(8));
    const cudaError_t error = gpu_allow_shared((const void *)kernel, floats * sizeof(float), 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 32 * WARPS(lanes), floats * sizeof(float), stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, parts->rest);
}

extern "C" cudaError_t selective_state_passing_states(const struct selective_args *args,
                                                      const struct selective_parts *parts, cudaStream_t stream)
{
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, parts, stream)
           : args->dtype == FP16 ? launch<__half>(args, parts, stream)
                                 : launch<float>(args, parts, stream);
}
