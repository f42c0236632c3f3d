/* fused_steps.cu - steps.cu with more lanes at work, and what they share in shared memory.

   A thread a channel leaves most of the chip idle: 2048 channels are 64 warps, and a GPU holds thousands. So a
   channel's states go to `lanes` lanes, four each, and a warp walks 32 / lanes channels (chunk.cuh):

       16 states    lane 0: 0 4 8 12    lane 1: 1 5 9 13    lane 2: 2 6 10 14    lane 3: 3 7 11 15

   A block is one warp, and it waits for nobody. It goes through time in chunks of 16 steps:

       chunk k + 2   u, delta, z, B, C on their way to a stage
       chunk k + 1   step = softplus(delta + bias) and step u,          16 / lanes steps each lane
       chunk k       h = exp(step A) h + step u B,  y += C h            16 steps each lane, of its four states
                     y added up over the lanes, + D u, times silu(z)    16 / lanes steps each lane

   One exponential for each state and step is the roof: a multiprocessor has 16 a clock. */
#include <arch.h>
#include <cuda_runtime.h>

#include "chunk.cuh"
#include "selective_scan.h"

enum { STEPS = 16 };

template <typename stored, int lanes>
static __global__ void __launch_bounds__(32, lanes == 4 && LINREC_ARCH >= 900 ? 16 : 8)
    fused_steps_forward(struct selective_args args)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes), rows = channels * STEPS };
    __shared__ __align__(16) float stages[3][STAGE(lanes, STEPS)];
    __shared__ __align__(16) float steps[2][2 * rows]; /* step, and behind it step u */
    const int lane = threadIdx.x, seq_len = (int)args.seq_len;
    const struct chunk_place place = place_of<lanes>(&args);
    const int part = place.part, row = place.row, mine = first_own<lanes, STEPS>(part);
    const float bias = args.delta_bias != NULL ? args.delta_bias[place.channel] : 0.0f;
    const float D = args.D != NULL ? args.D[place.channel] : 0.0f;
    const stored *pieces[PIECES(lanes, STEPS)];
    const unsigned there =
        find_pieces<stored, lanes, STEPS>(&args, place.batch, place.group, place.first, place.here, 0, pieces);
    uint2 held[PIECES(lanes, STEPS)] = {};
    float A[4], h[4];
    load_states<lanes>(&args, &place, args.initial_state, A, h);
    for (int i = lane; i < 3 * STAGE(lanes, STEPS) && args.states < states; i += 32)
        stages[0][i] = 0.0f; /* B and C of states that are not there */
    __syncwarp();

    float *stage = stages[0], *next = stages[1], *after = stages[2]; /* of this chunk and the two that follow */
    fetch<stored, lanes, STEPS>(pieces, there, 0, STEPS, seq_len, stage, held);
    land<stored, lanes, STEPS>(pieces, there, stage, held);
    fetch<stored, lanes, STEPS>(pieces, there, STEPS, STEPS, seq_len, next, held);
    land<stored, lanes, STEPS>(pieces, there, next, held);
    __pipeline_wait_prior(1);
    __syncwarp();
    prepare<lanes, STEPS>(stage, row, mine, mine, seq_len, bias, args.delta_softplus, steps[0]);
    int turn = 0; /* which of `steps` */
    for (int at = 0; at < seq_len; at += STEPS) {
        __pipeline_wait_prior(0);
        __syncwarp(); /* `next` has come, `steps` is written, and no lane needs `after` any more */
        fetch<stored, lanes, STEPS>(pieces, there, at + 2 * STEPS, STEPS, seq_len, after, held);

        float y[STEPS] = {};
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], B[4][4], C[4][4];
            get<STEPS, 4>(steps[turn], row, t, step);
            get<STEPS, 4>(steps[turn], channels + row, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                get<STEPS, 4>(stage, ROW_B(lanes) + i * lanes + part, t, B[i]);
                get<STEPS, 4>(stage, ROW_C(lanes) + i * lanes + part, t, C[i]);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    h[i] = fast_exp2(step[j] * A[i]) * h[i] + step_u[j] * B[i][j];
                    y[t + j] += C[i][j] * h[i];
                }
        }
        finish<stored, lanes, STEPS>(&args, &place, stage, D, at, y);
        prepare<lanes, STEPS>(next, row, mine, at + STEPS + mine, seq_len, bias, args.delta_softplus, steps[1 - turn]);
        land<stored, lanes, STEPS>(pieces, there, after, held);
        float *const done = stage;
        stage = next, next = after, after = done, turn = 1 - turn;
    }
    store_states<lanes>(&args, &place, h, args.final_state);
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t lanes = selective_fused_steps_lanes(args), blocks = selective_fused_steps_blocks(args);
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct selective_args) = lanes == 1   ? fused_steps_forward<stored, 1>
                                                  : lanes == 2 ? fused_steps_forward<stored, 2>
                                                  : lanes == 4 ? fused_steps_forward<stored, 4>
                                                  : lanes == 8 ? fused_steps_forward<stored, 8>
                                                               : fused_steps_forward<stored, 16>;
    kernel<<<(unsigned)blocks, 32, 0, stream>>>(*args);
    return cudaGetLastError();
}

extern "C" cudaError_t selective_fused_steps_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess || args->states > FUSED_STEPS_STATES || args->seq_len > SELECTIVE_INT_STEPS)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->storage == FP16 ? launch<__half>(args, stream)
                                   : launch<float>(args, stream);
}
