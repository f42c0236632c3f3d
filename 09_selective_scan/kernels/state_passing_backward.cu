/* SPDX-License-Identifier: MIT */
/* state_passing_backward.cu - the gradients of state_passing.cu: the warps of a block take a chunk each, from last to
   first, and pass the gradient of the state from chunk to chunk.

   state_passing_states.cu has left the states before each chunk. With them a warp knows all states of its chunk, and
   all that does not depend on the gradients of later steps, before their gradient comes. With g[t] the gradient of
   h[t]:

       before   a, h, y, sums of d_C, and what the chunk makes of a gradient that comes: start + product carry
       pass     carry = a[t+1] g[t+1] comes from the chunk behind, start + product carry goes to the one before
       behind   g from the true carry, and all other gradients

   The gradient goes backward in time:      chunk 3 <- chunk 4 <- chunk 5
                                     warp 2     warp 1     warp 0

   chunk_gradients.cuh goes through a chunk. Of d_B and d_C a warp leaves the sums over its channels (add_up.cu). */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>
#include "../../common/cuda/named_barrier.h"

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "grid.h"
#include "selective_check.h"
#include "workspace.h"
#include "chunk_gradients.cuh"
#include "elementwise_gradients.cuh"

/* What a thread keeps of a chunk needs nearly all registers that it can have: a multiprocessor has eight such warps. */
#define WARPS(lanes) ((lanes) == 2 ? 4 : 8)

/* Floats of a stage: its rows, and the states before the chunk. Of a warp: two stages; step and step u; the mailbox;
   and d_A, d_D and d_bias so far, for which there are no registers. */
#define STAGE_FLOATS(lanes) (H_AT(lanes) + 32 * A_LANE)
#define WARP_FLOATS(lanes) (2 * STAGE_FLOATS(lanes) + ROOM(2 * BOTH(lanes), STEPS) + 2 * 32 * A_LANE + 2 * 32)

template <typename dtype, int lanes>
static __global__ void __launch_bounds__(32 * WARPS(lanes), 1)
    state_passing_backward(struct selective_args args, struct selective_parts parts)
{
    enum { rows = ALL_ROWS(lanes), warps = WARPS(lanes), own = OWN_STEPS(lanes) };
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, next_warp = (warp + 1) % warps;
    const struct pair_place place = place_pair<lanes>(&args);
    const int part = place.part, row = place.row, order = place.order, mine = first_own_step<lanes>(part);
    const bool here = row < place.here;
    float *const stages = (float *)shared + warp * WARP_FLOATS(lanes), *const steps = stages + 2 * STAGE_FLOATS(lanes);
    float *const mailbox = steps + ROOM(2 * BOTH(lanes), STEPS) + lane * 4, *const d_A_so_far = mailbox + 32 * A_LANE;
    float *const so_far = mailbox - lane * 4 + 2 * 32 * A_LANE + lane * 2; /* d_D and d_bias */
    float *const next_mailbox = mailbox + (next_warp - warp) * WARP_FLOATS(lanes);
    const int seq_len = (int)args.seq_len, chunks = (seq_len - 1) / STEPS + 1;
    const float bias = args.delta_bias != NULL && here ? args.delta_bias[place.channel + row] : 0.0f;
    const float D = args.D != NULL && here ? args.D[place.channel + row] : 0.0f;
    const int sum_at = first_sum<lanes>(lane), sum_state = order * lanes + part;
    const size_t sums_row = (size_t)(blockIdx.x * (unsigned)args.states + sum_state) * (unsigned)seq_len + sum_at;
    const size_t own_row = (size_t)(unsigned)(place.channels + row) * (unsigned)seq_len + mine;
    int at = (chunks - 1 - warp) * STEPS;
    const float *saved = parts.rest + ((long long)blockIdx.x * chunks + chunks - 1 - warp) * 32 * A_LANE + lane * 4;
    float A[2][4], carry[2][4], zeros[2][4] = {};
    put_states(d_A_so_far, zeros);
    so_far[0] = so_far[1] = 0.0f;
    load_A<lanes>(&args, &place, A);
    load_pair<lanes>(&args, &place, place.channels, args.d_final_state, carry);
    if (args.states < STATES_OF(lanes) || place.here < BOTH(lanes))
        for (int i = lane; i < 2 * STAGE_FLOATS(lanes); i += 32)
            stages[i] = 0.0f; /* what is not there */
    __syncwarp();
    if (warp == warps - 1) { /* the last warp passes the first gradient to warp 0 */
        put_states(next_mailbox, carry);
        named_barrier_arrive(1, 64);
    }
    fetch_all<dtype, lanes>(&args, &place, saved, at, stages);
    for (int now = 0; at >= 0; at -= warps * STEPS, now = 1 - now) {
        float *const stage = stages + now * STAGE_FLOATS(lanes);
        const bool whole = at + STEPS <= seq_len && seq_len % 4 == 0;
        land_rows<dtype, lanes, rows>(&args, &place, stage);
        __syncwarp(); /* the chunk has come, and no lane needs `steps` and the other stage any more */
        saved -= warps * 32 * A_LANE;
        fetch_all<dtype, lanes>(&args, &place, saved, at - warps * STEPS, stages + (1 - now) * STAGE_FLOATS(lanes));
        prepare<lanes / 2, STEPS>(stage, row, mine, at + mine, seq_len, bias, args.delta_softplus, steps, false,
                                  NEXT_TO_NO_STEP);
        if (args.z != NULL)
            gate<lanes>(stage, row, mine);
        __syncwarp();

        /* [before] Before the gradient comes: all states, d_C, d_z, and what the chunk makes of a gradient. */
        const struct chunk_rows chunk_rows =
            rows_of<lanes>(steps, stage + D_OUT_AT(lanes), stage + B_AT(lanes), stage + C_AT(lanes), row, part, order);
        float a[STEPS][2][4], kept[STEPS][2][4], y[STEPS], sums[STEPS], u[own], v[own], step[own], d_y[own];
        float h[2][4], product[2][4], start[2][4] = {}, note[2][4];
        get_states(stage + H_AT(lanes) + lane * 4, h);
        walk_forward<lanes>(&chunk_rows, A, h, a, kept, y, sums);
        fold_channels<lanes>(sums, lane);
        if (sum_state < (int)args.states)
            store<float, lanes>(parts.d_C + sums_row + at, seq_len - at - sum_at, whole, sums);
        if (args.z != NULL) {
            get<STEPS, own>(stage, row, mine, u);
            get<STEPS, own>(stage + Z_AT(lanes), row, mine, v);
            finish_z<lanes>(u, v, part, D, y);
            if (here)
                store<dtype, own>((dtype *)args.d_z + own_row + at, seq_len - at - mine, whole, y);
        }
        __syncwarp(); /* or the compiler would keep what it has read, and there are no registers for that */
        walk_back_from_0<lanes>(&chunk_rows, A, a, product, start);
#pragma unroll
        for (int i = 0; i < 8; i++)
            note[i / 4][i % 4] = product[i / 4][i % 4] + start[i / 4][i % 4];
        put_states(stage + H_AT(lanes) + lane * 4, note); /* nobody reads it: see state_passing.cu */

        /* [pass] The gradient comes, and goes on to the warp of the chunk before. */
        named_barrier_sync(warp + 1, 64);
        get_states(mailbox, carry);
#pragma unroll
        for (int i = 0; i < 8; i++)
            start[i / 4][i % 4] = product[i / 4][i % 4] * carry[i / 4][i % 4] + start[i / 4][i % 4];
        if (at > 0) {
            put_states(next_mailbox, start);
            named_barrier_arrive(next_warp + 1, 64);
        }

        /* [behind] The gradients. */
        float d_input[STEPS], d_step[STEPS], d_A[2][4] = {};
        walk_back<lanes>(&chunk_rows, A, a, kept, seq_len - at, carry, d_A, d_input, d_step, sums);
        fold_channels<lanes>(sums, lane);
        if (sum_state < (int)args.states)
            store<float, lanes>(parts.d_B + sums_row + at, seq_len - at - sum_at, whole, sums);
        add_states(d_A_so_far, d_A);
        fold_states<lanes>(d_input, part);
        fold_states<lanes>(d_step, part);
        get<STEPS, own>(stage, row, mine, u);
        get<STEPS, own>(stage + ROOM(BOTH(lanes), STEPS), row, mine, v);
        get<STEPS, own>(steps, row, mine, step);
        get<STEPS, own>(stage + D_OUT_AT(lanes), row, mine, d_y);
        finish_own<lanes>(&args, u, v, step, d_y, bias, D, seq_len - at - mine, d_input, d_step, so_far);
        if (here) {
            store<dtype, own>((dtype *)args.d_u + own_row + at, seq_len - at - mine, whole, d_input);
            store<dtype, own>((dtype *)args.d_delta + own_row + at, seq_len - at - mine, whole, d_step);
        }
    }
    if (at == -warps * STEPS) /* this warp had the first chunk */
        store_pair<lanes>(&args, &place, carry, args.d_initial_state);
    __syncthreads();
    if (warp == 0)
        add_warps<lanes>(&args, &parts, &place, warps, WARP_FLOATS(lanes), d_A_so_far, so_far);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    const size_t lanes = selective_state_passing_lanes(args), blocks = args->batch * args->groups * parts->per_group;
    void (*const kernel)(struct selective_args, struct selective_parts) = lanes == 2 ? state_passing_backward<dtype, 2>
                                                                          : lanes == 4
                                                                              ? state_passing_backward<dtype, 4>
                                                                              : state_passing_backward<dtype, 8>;
    const size_t floats = WARPS(lanes) * (lanes == 2 ? WARP_FLOATS(2) : lanes == 4 ? WARP_FLOATS(4) : WARP_FLOATS(8));
    const cudaError_t error = gpu_allow_shared((const void *)kernel, floats * sizeof(float), 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 32 * WARPS(lanes), floats * sizeof(float), stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, *parts);
}

extern "C" cudaError_t selective_state_passing_backward(const struct selective_args *args, cudaStream_t stream)
{
    cudaError_t error = selective_check_args(args, true, selective_state_passing_workspace(args, true));
    if (error != cudaSuccess || !selective_state_passing_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    const struct selective_parts parts = selective_parts_of(args, selective_state_passing_parts(args), 1);
    error = selective_state_passing_states(args, &parts, stream);
    if (error == cudaSuccess)
        error = args->dtype == BF16   ? launch<__nv_bfloat16>(args, &parts, stream)
                : args->dtype == FP16 ? launch<__half>(args, &parts, stream)
                                      : launch<float>(args, &parts, stream);
    return error != cudaSuccess ? error : selective_add_up(args, &parts, stream);
}
