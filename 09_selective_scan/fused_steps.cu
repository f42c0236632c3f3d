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
#include <limits.h>

#include <arch.h>
#include <cuda_runtime.h>

#include "rows.cuh"
#include "selective_scan.h"

enum { STEPS = 16 };
#define WARPS(lanes) ((lanes) < FUSED_STEPS_WARPS ? (lanes) : FUSED_STEPS_WARPS)

/* What a block has of a chunk. */
template <typename stored, int lanes>
struct stage {
    stored B_and_C[2 * STATES_OF(lanes) * STEPS];
    stored rows[WARPS(lanes)][3 * CHANNELS(lanes) * STEPS];                 /* a warp's u, delta and z */
    float steps[WARPS(lanes)][2 * CHANNELS(lanes) * STEPS];                 /* its step and step u */
    float wide[sizeof(stored) < 4 ? 2 * STATES_OF(lanes) * STEPS : 4]; /* B and C, if they are not floats */
};

/* B and C of a chunk as floats. */
template <int lanes>
static __device__ __forceinline__ const float *B_and_C_of(const struct stage<float, lanes> *stage)
{
    return stage->B_and_C;
}

template <typename stored, int lanes>
static __device__ __forceinline__ const float *B_and_C_of(const struct stage<stored, lanes> *stage)
{
    return stage->wide;
}

/* Four steps from t on of the row that comes `rows` behind the lane's own, whose halves begin at `low` and `high`. */
template <int lanes>
static __device__ __forceinline__ void get_from(const float *low, const float *high, int rows, int t, float to[4])
{
    const bool swapped = rows & 2;
    get4(((t < STEPS / 2) != swapped ? low : high) + rows * STEPS + t % (STEPS / 2), to);
}

/* Sends off the thread's part of a chunk, of which `left` steps are in the sequence. `whole`: see fetch_rows. */
template <typename stored, int lanes>
static __device__ __forceinline__ void fetch(const stored *own[], unsigned own_there, const stored *common[],
                                             unsigned common_there, int left, bool whole,
                                             struct stage<stored, lanes> *to)
{
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    fetch_rows<stored, 3 * CHANNELS(lanes), STEPS, 32>(own, own_there, lane, left, whole, to->rows[warp]);
    fetch_rows<stored, 2 * STATES_OF(lanes), STEPS, 32 * WARPS(lanes)>(common, common_there, thread, left, whole,
                                                                       to->B_and_C);
    __pipeline_commit();
}

template <typename stored, int lanes>
static __global__ void __launch_bounds__(32 * WARPS(lanes), (lanes == 4 && LINREC_ARCH >= 900 ? 16 : 8) / WARPS(lanes))
    fused_steps_forward(struct selective_args args)
{
    enum { channels = CHANNELS(lanes), states = STATES_OF(lanes), own = STEPS / lanes };
    enum { warps = WARPS(lanes), threads = 32 * warps, rows = 3 * channels, common = 2 * states };
    __shared__ __align__(16) char memory[3 * sizeof(struct stage<stored, lanes>)];
    struct stage<stored, lanes> *const stages = (struct stage<stored, lanes> *)memory;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, seq_len = (int)args.seq_len;
    const struct chunk_place where = place_of<lanes, warps>(&args);
    const int part = where.part, row = where.row, mine = first_own<lanes, STEPS>(part);
    const float bias = args.delta_bias != NULL ? args.delta_bias[where.channel] : 0.0f;
    const float D = args.D != NULL ? args.D[where.channel] : 0.0f;
    const size_t first = where.batch * args.channels + args.channels / args.groups * where.group + where.first;
    const size_t first_state = (where.batch * args.groups + where.group) * args.states;
    const stored *own_pieces[PIECES_EACH(stored, rows, STEPS, 32)];
    const stored *common_pieces[PIECES_EACH(stored, common, STEPS, threads)];
    const unsigned own_there = find_rows<stored, rows, channels, STEPS, 32>(args.u, args.delta, args.z != NULL ? args.z : args.u, first,
                                                                            where.here, seq_len, lane, own_pieces);
    const unsigned common_there = find_rows<stored, common, states, STEPS, threads>(
        args.B, args.C, NULL, first_state, (int)args.states, seq_len, thread, common_pieces);
    stored *out = (stored *)args.out + where.both * seq_len + mine;
    float A[4], h[4];
    load_states<lanes>(&args, &where, args.initial_state, A, h);
    for (int i = thread; i < 3 * common * STEPS && args.states < states; i += threads)
        stages[i / (common * STEPS)].B_and_C[i % (common * STEPS)] = (stored)0.0f; /* states that are not there */
    __syncthreads();

    /* Where the lane reads step, step u, B and C: their rows 0 and 1, and 2 and 3, modulo 4, have different halves. */
    struct stage<stored, lanes> *const first_stage = &stages[0];
    const float *const own_low = first_stage->steps[warp] + place<STEPS>(row, 0);
    const float *const own_high = first_stage->steps[warp] + place<STEPS>(row, STEPS / 2);
    const float *const low = B_and_C_of(first_stage) + place<STEPS>(part, 0);
    const float *const high = B_and_C_of(first_stage) + place<STEPS>(part, STEPS / 2);
    int now = 0, next = sizeof stages[0], after = 2 * sizeof stages[0];
    fetch<stored, lanes>(own_pieces, own_there, common_pieces, common_there, seq_len, false, first_stage);
    fetch<stored, lanes>(own_pieces, own_there, common_pieces, common_there, seq_len - STEPS, false,
                         behind(first_stage, next));
    __pipeline_wait_prior(1);
    __syncthreads();
    prepare<lanes, STEPS>(first_stage->rows[warp], row, mine, mine, seq_len, bias, args.delta_softplus,
                          first_stage->steps[warp]);
    widen<common, STEPS, threads>(first_stage->B_and_C, thread, first_stage->wide);

    /* A chunk. `whole`: it and the next two are, for this thread and in every respect; the compiler knows. */
    const auto take = [&](const bool whole, const int left) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* `next` has come, `now` is prepared, and nobody needs `after` any more */
        fetch<stored, lanes>(own_pieces, own_there, common_pieces, common_there, left - 2 * STEPS, whole,
                             behind(first_stage, after));

        float y[STEPS] = {};
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            float step[4], step_u[4], B[4][4], C[4][4];
            get_from<lanes>(behind(own_low, now), behind(own_high, now), 0, t, step);
            get_from<lanes>(behind(own_low, now), behind(own_high, now), channels, t, step_u);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                get_from<lanes>(behind(low, now), behind(high, now), i * lanes, t, B[i]);
                get_from<lanes>(behind(low, now), behind(high, now), states + i * lanes, t, C[i]);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    h[i] = fast_exp2(step[j] * A[i]) * h[i] + step_u[j] * B[i][j];
                    y[t + j] += C[i][j] * h[i];
                }
        }
        finish<stored, lanes, STEPS>(&args, &where, behind(first_stage->rows[warp] + 0, now), D, left, whole, out, y);
        prepare<lanes, STEPS>(behind(first_stage->rows[warp] + 0, next), row, mine, mine + STEPS,
                              whole ? INT_MAX : left, bias, args.delta_softplus,
                              behind(first_stage->steps[warp] + 0, next));
        widen<common, STEPS, threads>(behind(first_stage->B_and_C + 0, next), thread,
                                      behind(first_stage->wide + 0, next));
        const int done = now;
        now = next, next = after, after = done;
        out += STEPS;
    };
    int left = seq_len;
    if (seq_len % IN_PIECE(stored) == 0 && args.states == states && where.full)
        for (; left >= 3 * STEPS; left -= STEPS)
            take(true, left);
    for (; left > 0; left -= STEPS)
        take(false, left);
    store_states<lanes>(&args, &where, h, args.final_state);
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
    kernel<<<(unsigned)blocks, 32 * (unsigned)selective_fused_steps_warps(args), 0, stream>>>(*args);
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
