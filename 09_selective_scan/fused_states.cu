/* fused_states.cu - the first walk of fused_backward.cu, forward through time: it leaves the states before each chunk of
   8 steps in the workspace.

       chunk 0      chunk 1      chunk 2      ...
       |h           |h           |h              four floats a lane: half of what a lane of fused_backward.cu will read

   It is fused_steps.cu without the output, and so without C and z. A lane has one channel, where one of
   fused_backward.cu has two; so a block of two warps does what one warp will read (gradient.cuh). */
#include <cuda_runtime.h>

#include "../05_pipe/pipe.h"
#include "selective_scan.h"
#include "span.cuh"

enum { WARPS = 2, THREADS = 32 * WARPS }; /* for a warp of fused_backward.cu: a lane has one channel here */

#define CHUNK_FLOATS(lanes) ROOM(2 * CHANNELS(lanes), STEPS) /* of a chunk: step and step u */

template <typename stored, int lanes>
struct states_block {
    struct span<stored, lanes, 2, BOTH(lanes)> spans[2];
    float steps[WARPS][2 * CHUNK_FLOATS(lanes)];
};

template <typename stored, int lanes>
static __global__ void __launch_bounds__(THREADS, 8) fused_states(struct selective_args args, int blocks, float *saved)
{
    enum { own = STEPS / lanes };
    extern __shared__ float4 shared[];
    struct states_block<stored, lanes> *const block = (struct states_block<stored, lanes> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const struct block_place place = place_block(&args, BOTH(lanes), blocks);
    if (place.here <= 0)
        return;
    const int row = lane / (2 * lanes) * 2 + lane % 2, part = lane / 2 % lanes, mine = first_own<lanes, STEPS>(part);
    const int channel = warp * CHANNELS(lanes) + row; /* of the block */
    struct chunk_place where;
    where.row = channel, where.here = place.here, where.part = part;
    where.both = place.first + min(channel, place.here - 1), where.channel = where.both % args.channels;
    const struct reader reader = reader_of<lanes>(channel, part);
    const float bias = args.delta_bias != NULL ? args.delta_bias[where.channel] : 0.0f;
    const size_t chunks = (seq_len - 1) / STEPS + 1;
    float *const steps = block->steps[warp];
    float A[4], h[4];
    load_states<lanes>(&args, &where, args.initial_state, A, h, reader.order);
    saved += blockIdx.x * chunks * A_LANE * 32 + reader.at;
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS)
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();

    fetch_span<THREADS>(&args, &place, 0, &block->spans[0]);
    __pipeline_commit();
    for (int at = 0, now = 0; at < seq_len; at += SPAN, now = 1 - now) {
        struct span<stored, lanes, 2, BOTH(lanes)> *const span = &block->spans[now];
        __pipeline_wait_prior(0);
        widen_span<THREADS>(span);
        __syncthreads(); /* the span has come, and nobody needs the other one any more */
        fetch_span<THREADS>(&args, &place, at + SPAN, &block->spans[1 - now]);
        __pipeline_commit();
#pragma unroll
        for (int chunk = 0; chunk < 2; chunk++) {
            float u[own], step[own];
            get<SPAN, own>(span->own[0], channel, chunk * STEPS + mine, u);
            get<SPAN, own>(span->own[1], channel, chunk * STEPS + mine, step);
#pragma unroll
            for (int i = 0; i < own; i++) {
                step[i] = step_of(step[i] + bias, args.delta_softplus);
                if (at + chunk * STEPS + mine + i >= seq_len)
                    step[i] = 0.0f;
                u[i] *= step[i];
            }
            put<STEPS, own>(steps + chunk * CHUNK_FLOATS(lanes), row, mine, step);
            put<STEPS, own>(steps + chunk * CHUNK_FLOATS(lanes) + ROOM(CHANNELS(lanes), STEPS), row, mine, u);
        }
        __syncwarp();
#pragma unroll
        for (int chunk = 0; chunk < 2; chunk++) {
            const float *const chunk_steps = steps + chunk * CHUNK_FLOATS(lanes);
            if (at + chunk * STEPS < seq_len)
                *(float4 *)(saved + chunk * A_LANE * 32) = make_float4(h[0], h[1], h[2], h[3]);
#pragma unroll
            for (int t = 0; t < STEPS; t += 4) {
                float step[4], step_u[4];
                get<STEPS, 4>(chunk_steps, row, t, step);
                get<STEPS, 4>(chunk_steps + ROOM(CHANNELS(lanes), STEPS), row, t, step_u);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float B[4];
                    get4(span->common[chunk] + state_at<lanes>(i, reader.order, part) + t, B);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        h[i] = fast_exp2(step[j] * A[i]) * h[i] + step_u[j] * B[j];
                }
            }
        }
        saved += 2 * A_LANE * 32;
    }
}

template <typename stored, int lanes>
static cudaError_t launch_lanes(const struct selective_args *args, const struct selective_parts *parts,
                                cudaStream_t stream)
{
    const size_t of_group = parts->per_group * SPAN_WARPS, bytes = sizeof(struct states_block<stored, lanes>);
    const unsigned blocks = (unsigned)(args->batch * args->groups * of_group);
    fused_states<stored, lanes><<<blocks, THREADS, bytes, stream>>>(*args, (int)of_group, parts->rest);
    return cudaGetLastError();
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    return selective_relay_lanes(args) == 2 ? launch_lanes<stored, 2>(args, parts, stream)
                                            : launch_lanes<stored, 4>(args, parts, stream);
}

extern "C" cudaError_t selective_fused_states(const struct selective_args *args, const struct selective_parts *parts,
                                              cudaStream_t stream)
{
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, parts, stream)
           : args->storage == FP16 ? launch<__half>(args, parts, stream)
                                   : launch<float>(args, parts, stream);
}
