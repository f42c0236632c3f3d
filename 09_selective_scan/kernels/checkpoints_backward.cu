/* SPDX-License-Identifier: MIT */
/* checkpoints_backward.cu - the gradients of one window of time, and of 16 states of each channel (a slice):
   checkpoints.c calls it from the last window to the first, each time behind checkpoints_states.cu.

       window 2     <- <- <- g      from the chunk's saved states, as fused_backward.cu does it
       window 1     <- <- <- g      `start` is what g goes on with: it waits in the workspace, as the sums over time do
       window 0     <- <- <- g

   It is fused_backward.cu but for what comes in and goes out. `sliced`: where there is more than one slice, y, d_u and
   the gradient of the step are sums over all states. They wait in the workspace until the last slice has come, which
   then writes d_u, d_delta and d_z. */
/* The simulator builds it as written: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "checkpoints.h"
enum { TILE = 16 }; /* steps */
#include "chunk_gradients.cuh"
#include "elementwise_gradients.cuh"
#include "tile_gradients.cuh"
#include "grid.h"

enum { THREADS = 32 * FUSED_WARPS };

template <typename dtype, int lanes>
struct window_block {
    struct tile<dtype, lanes, 4, FUSED_WARPS * BOTH(lanes)> tiles[2];
    float states[2][FUSED_WARPS][2][32 * A_LANE];           /* before each chunk of these tiles */
    float sums[2][2][FUSED_WARPS][STATES_OF(lanes) * TILE]; /* d_B and d_C of the warps' channels */
    float steps[FUSED_WARPS][2 * 4 * ROOM(BOTH(lanes), STEPS)];
    float y[FUSED_WARPS][ROOM(BOTH(lanes), STEPS)];                /* of several slices: it waits for the others' */
    float d_A[FUSED_WARPS][32 * A_LANE], so_far[FUSED_WARPS][128]; /* sums over the window; d_D, */
    /* d_bias, and behind them bias and D of the lane's first channel, as registers are scarce */
};

/* The same number, computed again: the compiler cannot see through it, so what is made of it is not kept in registers
   through a loop. All lanes of a warp call it together. */
static __device__ __forceinline__ int opaque(int value)
{
    return __shfl_sync(0xFFFFFFFFu, value, threadIdx.x % 32);
}

/* Adds up what the warps have left of d_B and d_C in the tile at step `at` of the window. */
template <int lanes>
static __device__ __forceinline__ void
add_window_tile(const struct selective_args *args, const struct selective_windows *windows,
                const float sums[2][FUSED_WARPS][STATES_OF(lanes) * TILE], int at)
{
    enum { pieces = STATES_OF(lanes) * TILE / 4 };
    const unsigned states = (unsigned)args->states, block = (unsigned)opaque((int)blockIdx.x);
#pragma unroll
    for (int j = 0; j < (2 * pieces + THREADS - 1) / THREADS; j++) {
        const unsigned piece = threadIdx.x + j * THREADS;
        if (2 * pieces % THREADS != 0 && piece >= 2 * pieces)
            break;
        const unsigned state = piece % pieces / (TILE / 4), t = piece % (TILE / 4) * 4;
        float sum[4] = {};
#pragma unroll
        for (int warp = 0; warp < FUSED_WARPS; warp++) {
            float more[4];
            get<TILE, 4>(sums[piece / pieces][warp], state, t, more);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += more[i];
        }
        const size_t line = ((size_t)blockIdx.y * gridDim.x + block) * states + state;
        if (state < states)
            *(float4 *)((piece < pieces ? windows->d_B : windows->d_C) + line * windows->window_steps + at + t) =
                make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
}

/* The sums over time: adds those of the window to those of the windows behind it. */
template <int lanes>
static __device__ __forceinline__ void
add_window(const struct selective_args *args, const struct selective_windows *windows, const struct pair_place *place,
           const float *d_A_so_far, const float *so_far)
{
    const size_t segment = blockIdx.y * args->batch * args->channels, at = segment + place->channels + place->row;
    float d_A[2][4], more[2][4], d_D = so_far[0], d_bias = so_far[1];
    load_pair<lanes>(args, place, place->channels, windows->d_A + segment * args->states, d_A);
    get_states(d_A_so_far, more);
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            d_A[k][i] += more[k][i];
    store_pair<lanes>(args, place, d_A, windows->d_A + segment * args->states);
    for (int bit = 2; bit < lanes; bit *= 2) {
        d_D += __shfl_xor_sync(0xFFFFFFFFu, d_D, bit);
        d_bias += __shfl_xor_sync(0xFFFFFFFFu, d_bias, bit);
    }
    if (place->row < place->here && place->part % (lanes / 2) == 0)
        windows->d_D[at] += d_D, windows->d_bias[at] += d_bias;
}

/* Adds to a lane's sums those of the slices before, from `there`, and leaves them there for the next one. */
template <int own>
static __device__ __forceinline__ void add_slices(float4 *there, bool is_first, bool is_last, float sums[own])
{
#pragma unroll
    for (int i = 0; i < own; i += 4) {
        float before[4] = {};
        if (!is_first)
            get4((const float *)(there + i / 4), before);
#pragma unroll
        for (int j = 0; j < 4; j++)
            sums[i + j] += before[j];
        if (!is_last)
            there[i / 4] = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    }
}

template <typename dtype, int lanes, bool sliced>
static __global__ void __launch_bounds__(THREADS, 2)
    checkpoints_backward(struct selective_args args, struct selective_windows windows, int window)
{
    enum { own = OWN_STEPS(lanes), of_slices = BOTH(lanes) * STEPS };
    enum { see_through = !sliced && DEVICE_ARCH >= 80 }; /* else registers spill */
    extern __shared__ float4 shared[];
    struct window_block<dtype, lanes> *const block = (struct window_block<dtype, lanes> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const int first_step = blockIdx.y * (int)windows.segment_steps, steps_of_window = (int)windows.window_steps;
    const int of_segment = min(seq_len - first_step, (int)windows.segment_steps);
    const int begin = first_step + window * steps_of_window;
    const int end = begin + min(of_segment - window * steps_of_window, steps_of_window);
    if (begin >= end) /* the last segment may have fewer windows */
        return;
    const struct pair_place place = place_pair<lanes, FUSED_WARPS>(&args);
    const int part = place.part, row = place.row, order = place.order, mine = first_own_step<lanes>(part);
    struct block_place block_place = place_block(&args, FUSED_WARPS * BOTH(lanes), windows.per_group);
    block_place.states = (int)(blockIdx.x / windows.per_group * windows.all_states + windows.first_state);
    const int channel = warp * BOTH(lanes) + row; /* of the block */
    const bool here = row < place.here, is_first = windows.first_state == 0;
    const bool is_last = windows.first_state + args.states == windows.all_states;
    const size_t carries = blockIdx.y * args.batch * args.channels * args.states; /* of this segment */
    const size_t chunks = ((blockIdx.x * FUSED_WARPS + warp) * windows.segments + blockIdx.y) *
                          (steps_of_window / STEPS); /* saved before those of this warp */
    const float *const saved = windows.saved + chunks * SAVED_FLOATS;
    const unsigned slices = (unsigned)(chunks * (3 * of_slices / 4)) + (row * STEPS + mine) / 4; /* float4 */
    const int sum_row = order * lanes + part, sum_at = first_sum<lanes>(lane);
    float *const d_A_so_far = block->d_A[warp] + lane * 4, *const so_far = block->so_far[warp] + lane * 4;
    float *const bias = so_far + 2, *const D = so_far + 3;
    float A[2][4], carry[2][4];
    load_A<lanes>(&args, &place, A);
    load_pair<lanes>(&args, &place, place.channels, windows.start + carries, carry);
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS)
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();
    *bias = args.delta_bias != NULL && here ? args.delta_bias[place.channel + row] : 0.0f;
    *D = args.D != NULL && here ? args.D[place.channel + row] : 0.0f;
    const int last = begin + (end - 1 - begin) / TILE * TILE, saved_steps = place.here > 0 ? steps_of_window : 0;
    int now = 0;
    fetch_tile<THREADS>(&args, &block_place, last, &block->tiles[0]);
    fetch_saved<lanes>(saved, SAVED_FLOATS, last - begin, saved_steps, block->states[0][warp][0], NULL);
    __pipeline_commit();
    for (int at = last; at >= begin; at -= TILE, now = 1 - now) {
        const int next = at > begin ? at - TILE : -1;
        struct tile<dtype, lanes, 4, FUSED_WARPS * BOTH(lanes)> *const tile = &block->tiles[now];
        /* [tile] The next tile comes, and the sums of the one behind are complete. */
        __pipeline_wait_prior(0);
        widen_tile<THREADS>(tile);
        __syncthreads(); /* the tile has come, and nobody needs the other one any more */
        fetch_tile<THREADS>(&args, &block_place, next, &block->tiles[1 - now]);
        fetch_saved<lanes>(saved, SAVED_FLOATS, opaque(next - begin), saved_steps, block->states[1 - now][warp][0],
                           NULL);
        __pipeline_commit();
        if (at != last)
            add_window_tile<lanes>(&args, &windows, block->sums[1 - now], at + TILE - begin);
        prepare_tile<dtype, lanes>(&args, tile, channel, row, mine, seq_len - at - mine, *bias, block->steps[warp]);
        __syncwarp();

        /* [chunks] From last to first. */
        for (int chunk = at + STEPS < seq_len ? 1 : 0; chunk >= 0; chunk--) {
            const int first = at + chunk * STEPS, left = seq_len - first, own_at = chunk * STEPS + mine;
            float *const steps = block->steps[warp] + chunk * PREPARED(lanes);
            const float *const B = tile->common[chunk];
            const struct chunk_rows rows = rows_of<lanes>(steps, steps + 2 * PREPARED_ROWS(lanes), B,
                                                          B + ROOM(STATES_OF(lanes), STEPS), row, part, order);
            float a[STEPS][2][4], kept[STEPS][2][4], u[own], d_y[own], step[own], delta[own], d_z[own];

            /* 1. Forward: all states, d_C and d_z. */
            float h[2][4], y[STEPS], d_C[STEPS];
            get_states(block->states[now][warp][chunk] + lane * 4, h);
            walk_forward<lanes>(&rows, A, h, a, kept, y, d_C);
            __syncwarp(); /* or the compiler would keep what it has read, and there are no registers for that */
            fold_channels<lanes>(d_C, lane);
            put<TILE, lanes>(block->sums[now][1][warp], sum_row, chunk * STEPS + sum_at, d_C);
            if (sliced) {
                fold_states<lanes>(y, part);
                put<STEPS, own>(block->y[warp], row, mine, y);
            } else {
                get<TILE, own>(tile->own[0], channel, own_at, u);
                get<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, d_z);
                finish_z<lanes>(u, d_z, part, *D, y);
                put<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, y);
            }

            /* 2. Backward: the gradients. */
            float d_input[STEPS], d_step[STEPS], d_B[STEPS], d_A[2][4] = {};
            walk_back<lanes>(&rows, A, a, kept, left, carry, d_A, d_input, d_step, d_B);
            fold_channels<lanes>(d_B, lane);
            put<TILE, lanes>(block->sums[now][0][warp], sum_row, chunk * STEPS + sum_at, d_B);
            add_states(d_A_so_far, d_A);
            fold_states<lanes>(d_input, part);
            fold_states<lanes>(d_step, part);
            if (sliced) {
                float4 *const of_chunk =
                    (float4 *)windows.so_far + (slices + (unsigned)((first - begin) / STEPS) * (3 * of_slices / 4));
                get<STEPS, own>(block->y[warp], row, mine, y);
                add_slices<own>(of_chunk, is_first, is_last, y);
                add_slices<own>(of_chunk + of_slices / 4, is_first, is_last, d_input);
                add_slices<own>(of_chunk + 2 * of_slices / 4, is_first, is_last, d_step);
                if (!is_last)
                    continue;
            }
            get<TILE, own>(tile->own[0], channel, own_at, u);
            get<TILE, own>(tile->own[1], channel, own_at, delta);
            get<STEPS, own>(steps, row, mine, step);
            get<STEPS, own>(steps + 2 * PREPARED_ROWS(lanes), row, mine, d_y);
            get<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, d_z);
            if (sliced)
#pragma unroll
                for (int i = 0; i < own; i++)
                    d_z[i] *= y[i] + *D * u[i];
            finish_own<lanes>(&args, u, delta, step, d_y, *bias, *D, left - mine, d_input, d_step, so_far);
            const int own_row = see_through ? place.channels + row : opaque(place.channels + row);
            if (here)
                store_own<dtype, lanes>(&args, own_row, first + mine, left >= STEPS && seq_len % 4 == 0, d_input,
                                        d_step, d_z);
        }
    }
    __syncthreads();
    add_window_tile<lanes>(&args, &windows, block->sums[1 - now], 0);
    store_pair<lanes>(&args, &place, carry, windows.start + carries);
    add_window<lanes>(&args, &windows, &place, d_A_so_far, so_far);
}

template <typename dtype, int lanes, bool sliced>
static cudaError_t launch_lanes(const struct selective_args *args, const struct selective_windows *windows, int window,
                                cudaStream_t stream)
{
    const size_t blocks = args->batch * args->groups * windows->per_group;
    const size_t bytes = sizeof(struct window_block<dtype, lanes>);
    const cudaError_t error = gpu_allow_shared((const void *)checkpoints_backward<dtype, lanes, sliced>, bytes, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch =
        launch_of(dim3((unsigned)blocks, (unsigned)windows->segments), THREADS, bytes, stream);
    return cudaLaunchKernelEx(&launch, checkpoints_backward<dtype, lanes, sliced>, *args, *windows, window);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_windows *windows, int window,
                          cudaStream_t stream)
{
    if (windows->slices > 1)
        return launch_lanes<dtype, 4, true>(args, windows, window, stream);
    return selective_checkpoints_lanes(windows) == 2 ? launch_lanes<dtype, 2, false>(args, windows, window, stream)
                                                     : launch_lanes<dtype, 4, false>(args, windows, window, stream);
}

extern "C" cudaError_t selective_window_backward(const struct selective_args *args,
                                                 const struct selective_windows *windows, size_t window,
                                                 cudaStream_t stream)
{
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, windows, (int)window, stream)
           : args->dtype == FP16 ? launch<__half>(args, windows, (int)window, stream)
                                 : launch<float>(args, windows, (int)window, stream);
}
