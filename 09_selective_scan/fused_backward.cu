/* fused_backward.cu - the gradients of fused_steps.cu: a warp walks its channels alone, from the last chunk to the
   first. */
#include <cuda_runtime.h>

#include "../05_pipe/pipe.h"
#include "selective_scan.h"
#include "span.cuh"
#include "walks.cuh"

enum { THREADS = 32 * SPAN_WARPS };

/* Of a warp's chunk: step, step u, d_y = d_out silu(z) and d_out silu'(z), which is d_z but for y: a row a channel. */
#define ROWS_FLOATS(lanes) ROOM(BOTH(lanes), STEPS)
#define STEPS_FLOATS(lanes) (4 * ROWS_FLOATS(lanes))

template <typename stored, int lanes>
struct gradients_block {
    struct span<stored, lanes, 4, SPAN_WARPS * BOTH(lanes)> spans[2];
    float states[2][SPAN_WARPS][2][32 * A_LANE];           /* before each chunk of these spans */
    float sums[2][2][SPAN_WARPS][STATES_OF(lanes) * SPAN]; /* d_B and d_C of the warps' channels */
    float steps[SPAN_WARPS][2 * STEPS_FLOATS(lanes)];
    float d_A[SPAN_WARPS][32 * A_LANE], so_far[SPAN_WARPS][64]; /* sums over time; d_D and d_bias */
};

/* The lane's own steps of both chunks of a span. Steps from seq_len on become 0, and leave the states as they are. */
template <typename stored, int lanes>
static __device__ __forceinline__ void prepare_span(const struct selective_args *args,
                                                    const struct span<stored, lanes, 4, SPAN_WARPS * BOTH(lanes)> *span, int channel, int row,
                                                    int mine, int left, float bias, float *steps)
{
    enum { own = OWN_STEPS(lanes) };
    float u[2][own], step[2][own], z[2][own], d_y[2][own];
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        get<SPAN, own>(span->own[0], channel, chunk * STEPS + mine, u[chunk]);
        get<SPAN, own>(span->own[1], channel, chunk * STEPS + mine, step[chunk]);
        get<SPAN, own>(span->own[2], channel, chunk * STEPS + mine, z[chunk]);
        get<SPAN, own>(span->own[3], channel, chunk * STEPS + mine, d_y[chunk]);
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
        float *const to = steps + chunk * STEPS_FLOATS(lanes);
        put<STEPS, own>(to, row, mine, step[chunk]);
        put<STEPS, own>(to + ROWS_FLOATS(lanes), row, mine, u[chunk]);
        put<STEPS, own>(to + 2 * ROWS_FLOATS(lanes), row, mine, d_y[chunk]);
        put<STEPS, own>(to + 3 * ROWS_FLOATS(lanes), row, mine, z[chunk]);
    }
}

/* Sends off the states before the chunks of the span at step `at`, as far as these are in the sequence. */
static __device__ __forceinline__ void fetch_saved(const float *saved, int at, int seq_len, float *to)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (at >= 0 && at + i / 2 * STEPS < seq_len)
            __pipeline_memcpy_async(to + i * 32 * 4, saved + ((size_t)(at / STEPS) * A_LANE + i * 4) * 32, 16);
}

/* Adds up what the warps have left of d_B and d_C in the span at step `at`. */
template <int lanes>
static __device__ __forceinline__ void add_span(const struct selective_args *args, const struct selective_parts *parts,
                                                const float sums[2][SPAN_WARPS][STATES_OF(lanes) * SPAN], int at)
{
    enum { pieces = STATES_OF(lanes) * SPAN / 4 };
    const int seq_len = (int)args->seq_len;
#pragma unroll
    for (int j = 0; j < (2 * pieces + THREADS - 1) / THREADS; j++) {
        const unsigned piece = threadIdx.x + j * THREADS;
        if (2 * pieces % THREADS != 0 && piece >= 2 * pieces)
            break;
        const int state = piece % pieces / (SPAN / 4), t = piece % (SPAN / 4) * 4;
        float sum[4] = {};
#pragma unroll
        for (int warp = 0; warp < SPAN_WARPS; warp++) {
            float more[4];
            get<SPAN, 4>(sums[piece / pieces][warp], state, t, more);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += more[i];
        }
        const size_t out = (size_t)(blockIdx.x * (unsigned)args->states + state) * (unsigned)seq_len + at + t;
        if (state < (int)args->states)
            store<float, 4>((piece < pieces ? parts->d_B : parts->d_C) + out, seq_len - at - t, 
                            seq_len % 4 == 0 && at + SPAN <= seq_len, sum);
    }
}

template <typename stored, int lanes>
static __global__ void __launch_bounds__(THREADS, 2)
    fused_backward(struct selective_args args, struct selective_parts parts)
{
    enum { own = OWN_STEPS(lanes) };
    extern __shared__ float4 shared[];
    struct gradients_block<stored, lanes> *const block = (struct gradients_block<stored, lanes> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const struct pair_place place = place_pair<lanes, SPAN_WARPS>(&args);
    const int part = place.part, row = place.row, order = place.order, mine = first_own_step<lanes>(part);
    const struct block_place block_place = place_block(&args, SPAN_WARPS * BOTH(lanes), parts.per_group);
    const int channel = warp * BOTH(lanes) + row; /* of the block */
    const bool here = row < place.here;
    const float bias = args.delta_bias != NULL && here ? args.delta_bias[place.channel + row] : 0.0f;
    const float D = args.D != NULL && here ? args.D[place.channel + row] : 0.0f;
    const size_t chunks = (seq_len - 1) / STEPS + 1;
    const float *const saved = parts.rest + (blockIdx.x * SPAN_WARPS + warp) * chunks * A_LANE * 32 + lane * 4;
    const int sum_row = order * lanes + part, sum_at = first_sum<lanes>(lane);
    float *const d_A_so_far = block->d_A[warp] + lane * 4, *const so_far = block->so_far[warp] + lane * 2;
    float A[2][4], carry[2][4];
    load_pair<lanes>(&args, &place, place.channel, args.A, A);
    load_pair<lanes>(&args, &place, place.channels, args.d_final_state, carry);
#pragma unroll
    for (int i = 0; i < 8; i++)
        A[i / 4][i % 4] *= LOG2_E;
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS)
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();

    const int last = (seq_len - 1) / SPAN * SPAN;
    fetch_span<THREADS>(&args, &block_place, last, &block->spans[0]);
    fetch_saved(saved, last, seq_len, block->states[0][warp][0] + lane * 4);
    __pipeline_commit();
    int now = 0;
    for (int at = last; at >= 0; at -= SPAN, now = 1 - now) {
        struct span<stored, lanes, 4, SPAN_WARPS * BOTH(lanes)> *const span = &block->spans[now];
        __pipeline_wait_prior(0);
        widen_span<THREADS>(span);
        __syncthreads(); /* the span has come, and nobody needs the other one any more */
        fetch_span<THREADS>(&args, &block_place, at - SPAN, &block->spans[1 - now]);
        fetch_saved(saved, at - SPAN, seq_len, block->states[1 - now][warp][0] + lane * 4);
        __pipeline_commit();
        if (at != last)
            add_span<lanes>(&args, &parts, block->sums[1 - now], at + SPAN);
        prepare_span<stored, lanes>(&args, span, channel, row, mine, seq_len - at - mine, bias, block->steps[warp]);
        __syncwarp();

        for (int chunk = at + STEPS < seq_len ? 1 : 0; chunk >= 0; chunk--) {
            const int first = at + chunk * STEPS, left = seq_len - first, own_at = chunk * STEPS + mine;
            float *const steps = block->steps[warp] + chunk * STEPS_FLOATS(lanes);
            const float *const B = span->common[chunk];
            const struct chunk_rows chunk_rows = {steps, steps + 2 * ROWS_FLOATS(lanes), B,
                                                  B + ROOM(STATES_OF(lanes), STEPS)};
            float a[STEPS][2][4], kept[STEPS][2][4], u[own], d_y[own], step[own], v[own], d_z[own];

            /* 1. Forward: all states, d_C and d_z. */
            float h[2][4], y[STEPS], d_C[STEPS];
            get_states(block->states[now][warp][chunk] + lane * 4, h);
            walk_forward<lanes>(&chunk_rows, row, part, order, A, h, a, kept, y, d_C);
            __syncwarp(); /* or the compiler would keep what it has read, and there are no registers for that */
            fold_channels<lanes>(d_C, lane);
            put<SPAN, lanes>(block->sums[now][1][warp], sum_row, chunk * STEPS + sum_at, d_C);
            get<SPAN, own>(span->own[0], channel, own_at, u);
            get<STEPS, own>(steps + 3 * ROWS_FLOATS(lanes), row, mine, d_z);
            finish_z<lanes>(u, d_z, part, D, y);
            put<STEPS, own>(steps + 3 * ROWS_FLOATS(lanes), row, mine, y);

            /* 2. Backward: the gradients. */
            float d_input[STEPS], d_step[STEPS], d_B[STEPS], d_A[2][4] = {};
            walk_back<lanes>(&chunk_rows, row, part, order, A, a, kept, left, carry, d_A, d_input, d_step, d_B);
            fold_channels<lanes>(d_B, lane);
            put<SPAN, lanes>(block->sums[now][0][warp], sum_row, chunk * STEPS + sum_at, d_B);
            add_states(d_A_so_far, d_A);
            fold_states<lanes>(d_input, part);
            fold_states<lanes>(d_step, part);
            get<SPAN, own>(span->own[0], channel, own_at, u);
            get<SPAN, own>(span->own[1], channel, own_at, v);
            get<STEPS, own>(steps, row, mine, step);
            get<STEPS, own>(steps + 2 * ROWS_FLOATS(lanes), row, mine, d_y);
            get<STEPS, own>(steps + 3 * ROWS_FLOATS(lanes), row, mine, d_z);
#pragma unroll
            for (int i = 0; i < own; i++)
                v[i] += bias;
            finish_own<lanes>(u, v, step, d_y, D, args.delta_softplus, left - mine, d_input, d_step, so_far);
            if (here) {
                const size_t to = (size_t)(unsigned)(place.channels + row) * (unsigned)seq_len + (first + mine);
                const bool whole = left >= STEPS && seq_len % 4 == 0;
                store<stored, own>((stored *)args.d_u + to, left - mine, whole, d_input);
                store<stored, own>((stored *)args.d_delta + to, left - mine, whole, d_step);
                if (args.z != NULL)
                    store<stored, own>((stored *)args.d_z + to, left - mine, whole, d_z);
            }
        }
    }
    __syncthreads();
    add_span<lanes>(&args, &parts, block->sums[1 - now], 0);
    store_pair<lanes>(&args, &place, carry, args.d_initial_state);
    add_warps<lanes>(&args, &parts, &place, 1, 0, d_A_so_far, so_far);
}

template <typename stored, int lanes>
static cudaError_t launch_lanes(const struct selective_args *args, const struct selective_parts *parts,
                                cudaStream_t stream)
{
    const size_t blocks = args->batch * args->groups * parts->per_group;
    const size_t bytes = sizeof(struct gradients_block<stored, lanes>);
    const cudaError_t error = pipe_allow_shared((const void *)fused_backward<stored, lanes>, bytes, 80);
    if (error == cudaSuccess)
        fused_backward<stored, lanes><<<(unsigned)blocks, 32 * SPAN_WARPS, bytes, stream>>>(*args, *parts);
    return error != cudaSuccess ? error : cudaGetLastError();
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    const size_t lanes = selective_relay_lanes(args);
    return lanes == 2   ? launch_lanes<stored, 2>(args, parts, stream)
           : lanes == 4 ? launch_lanes<stored, 4>(args, parts, stream)
                        : launch_lanes<stored, 8>(args, parts, stream);
}

extern "C" cudaError_t selective_fused_backward(const struct selective_args *args, cudaStream_t stream)
{
    cudaError_t error = selective_check_args(args, true, selective_fused_workspace(args, true));
    if (error != cudaSuccess || !selective_relay_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    const struct selective_parts parts = selective_parts_of(args, selective_fused_parts(args));
    error = selective_fused_states(args, &parts, stream);
    if (error == cudaSuccess)
        error = args->storage == BF16   ? launch<__nv_bfloat16>(args, &parts, stream)
                : args->storage == FP16 ? launch<__half>(args, &parts, stream)
                                        : launch<float>(args, &parts, stream);
    return error != cudaSuccess ? error : selective_add_up(args, &parts, stream);
}
