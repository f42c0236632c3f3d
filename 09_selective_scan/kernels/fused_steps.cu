/* SPDX-License-Identifier: MIT */
/* fused_steps.cu - steps.cu with more lanes at work, and what they share in shared memory.

   A thread a channel leaves most of the chip idle: 2048 channels are 64 warps, and a GPU holds thousands. So a
   channel's states go to `lanes` lanes, four each, and a warp has 32 / lanes channels (channel_lanes.cuh):

       16 states    lane 0: 0 4 8 12    lane 1: 1 5 9 13    lane 2: 2 6 10 14    lane 3: 3 7 11 15

   The four warps of a block share nothing but B and C, which each of them would fetch otherwise, and convert. A block
   goes through time in chunks of 16 steps (block_stage.cuh):

       chunk k + 2   u, delta, z, B, C on their way to a stage
       chunk k + 1   step = softplus(delta + bias) and step u,          16 / lanes steps each lane
       chunk k       h = exp(step A) h + step u B,  y += C h            16 steps each lane, of its four states
                     y added up over the lanes, + D u, times silu(z)    16 / lanes steps each lane

   One exponential for each state and step is the roof: a multiprocessor has 16 a clock. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include "../../common/cuda/arch.h"
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "grid.h"
#include "selective_check.h"
#include "block_stage.cuh"
#include "sequence.cuh"

template <typename dtype, int lanes>
static __global__ void __launch_bounds__(32 * WARPS(lanes), (lanes == 4 && DEVICE_ARCH >= 90 ? 16 : 8) / WARPS(lanes))
    fused_steps_forward(struct selective_args args)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes), stage_bytes = sizeof(struct stage<dtype, lanes>) };
    enum { own = STEPS / lanes }; /* a lane's own steps of a chunk */
    __shared__ __align__(16) char shared[3 * stage_bytes];
    struct stage<dtype, lanes> *const stages = (struct stage<dtype, lanes> *)shared;
    const int warp = threadIdx.x / 32;
    struct chunk_place where = place_of<lanes, WARPS(lanes)>(&args);
    const struct sequence sequence = sequence_of(&args, where.batch);
    const int seq_len = (int)sequence.length;
    where.batch = sequence.batch; /* of the arrays; a sequence's states have its number, in where.both */
    const int row = where.row, mine = first_own<lanes, STEPS>(where.part);
    const float bias = args.delta_bias != NULL ? args.delta_bias[where.channel] : 0.0f;
    const float D = args.D != NULL ? args.D[where.channel] : 0.0f;
    struct sources<dtype, lanes> sources = find_sources<dtype, lanes>(&args, &where, sequence.begin);
    dtype *out =
        (dtype *)args.out + (where.batch * args.channels + where.channel) * args.seq_len + sequence.begin + mine;
    float A[4], h[4];
    load_states<lanes>(&args, &where, args.initial_state, A, h);
    for (int i = threadIdx.x; i < COMMON_ROWS(lanes) * STEPS && args.states < states; i += 32 * WARPS(lanes))
        stages[0].common[i] = stages[1].common[i] = stages[2].common[i] = (dtype)0.0f; /* states that are not there */
    __syncthreads();

    int now = 0, next = stage_bytes, after = 2 * stage_bytes; /* where this chunk and the two that follow lie */
    const bool whole_rows = args.seq_len % IN_PIECE(dtype) == 0 && sequence.begin % IN_PIECE(dtype) == 0 && where.full;
    send(&sources, seq_len, whole_rows && seq_len >= STEPS, stages);
    send(&sources, seq_len - STEPS, whole_rows && seq_len >= 2 * STEPS, behind(stages, next));
    __pipeline_wait_prior(1);
    __syncthreads();
    prepare<lanes, STEPS>(stages->own[warp], row, mine, mine, seq_len, bias, args.delta_softplus, stages->steps[warp]);
    float u[own];
    get<STEPS, own>(stages->own[warp], row, mine, u);
    widen(stages);
    const struct halves step_rows = halves_of(stages->steps[warp], row);
    const struct halves state_rows = halves_of(floats_of(stages), where.part);

    /* A chunk, from which on `left` steps are in the sequence. `whole`: all is there, two chunks ahead, too, and lies
       at multiples of 16 bytes. That is a constant where it is called, and the compiler makes two of this. */
    const auto take = [&](const bool whole, const int left) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* `next` has come, `now` is prepared, and nobody needs `after` any more */
        send(&sources, left - 2 * STEPS, whole, behind(stages, after));

        /* For every four steps the lane does a quarter of its own work, so that exponentials of all kinds come
           one after the other: step and step u of the next chunk, and silu(z) of this one. */
        const dtype *const next_rows = behind(stages, next)->own[warp];
        float y[STEPS] = {}, u_next[own], own_step[own], gate[own];
        get<STEPS, own>(next_rows, row, mine, u_next);
        get<STEPS, own>(next_rows, ROW_DELTA(lanes) + row, mine, own_step);
        get<STEPS, own>(behind(stages, now)->own[warp], ROW_Z(lanes) + row, mine, gate);
        /* [loop] Four steps at a time. */
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], B[4][4], C[4][4];
            get4(step_rows, now, 0, t, step);
            get4(step_rows, now, channels, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                get4(state_rows, now, i * lanes, t, B[i]);
                get4(state_rows, now, states + i * lanes, t, C[i]);
            }
#pragma unroll
            for (int i = t * own / STEPS; i < (t + 4) * own / STEPS; i++) {
                own_step[i] = step_of(own_step[i] + bias, args.delta_softplus);
                if (!whole && STEPS + mine + i >= left)
                    own_step[i] = 0.0f; /* leaves the states as they are */
                gate[i] = args.z != NULL ? silu(gate[i]) : 1.0f;
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (whole || t + j < left) /* behind the end exp(0 A) would be NaN for an infinite A */
                        h[i] = fast_exp2(step[j] * A[i]) * h[i] + step_u[j] * B[i][j];
                    y[t + j] += C[i][j] * h[i];
                }
        }
        /* [own] Step and step u of the next chunk go to shared memory, and the outputs of this one are stored. */
        float own_step_u[own];
#pragma unroll
        for (int i = 0; i < own; i++)
            own_step_u[i] = u_next[i] * own_step[i];
        put<STEPS, own>(behind(stages, next)->steps[warp], row, mine, own_step);
        put<STEPS, own>(behind(stages, next)->steps[warp], channels + row, mine, own_step_u);
        fold<lanes, STEPS>(y, where.part);
#pragma unroll
        for (int i = 0; i < own; i++) {
            y[i] = (y[i] + D * u[i]) * gate[i];
            u[i] = u_next[i];
        }
        const bool all = whole || (whole_rows && left >= STEPS);
        if (all || row < where.here)
            store<dtype, own>(out, left - mine, all, y);
        widen(behind(stages, next));
        const int done = now;
        now = next, next = after, after = done;
        out += STEPS;
    };
    int left = seq_len;
    if (whole_rows)
        for (; left >= 3 * STEPS; left -= STEPS)
            take(true, left);
    for (; left > 0; left -= STEPS)
        take(false, left);
    store_states<lanes>(&args, &where, h, args.final_state);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t lanes = selective_fused_steps_lanes(args), blocks = selective_fused_steps_blocks(args);
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct selective_args) = lanes == 1   ? fused_steps_forward<dtype, 1>
                                                  : lanes == 2 ? fused_steps_forward<dtype, 2>
                                                  : lanes == 4 ? fused_steps_forward<dtype, 4>
                                                  : lanes == 8 ? fused_steps_forward<dtype, 8>
                                                               : fused_steps_forward<dtype, 16>;
    const cudaLaunchConfig_t launch =
        launch_of((unsigned)blocks, 32 * (unsigned)selective_fused_steps_warps(args), 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args);
}

extern "C" cudaError_t selective_fused_steps_forward(const struct selective_args *given, cudaStream_t stream)
{
    const struct selective_args sequences = selective_sequences(given), *const args = &sequences;
    const cudaError_t error = selective_check_packed(given, false, 0);
    if (error != cudaSuccess || args->states > FUSED_STEPS_STATES || args->seq_len > SELECTIVE_INT_STEPS)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(given))
        return selective_finish_empty(given, false, stream);
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->dtype == FP16 ? launch<__half>(args, stream)
                                 : launch<float>(args, stream);
}
