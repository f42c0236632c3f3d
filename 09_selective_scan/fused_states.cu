/* fused_states.cu - the first walk of fused_backward.cu, forward through time: it leaves the states before
   each chunk of 8 steps in the workspace.

       chunk 0      chunk 1      chunk 2      ...
       |h           |h           |h                      eight floats a lane, as fused_backward.cu's will read them

   It is fused_steps.cu without the output, and so without C and z; but a lane has two channels (gradient.cuh). */
#include <cuda_runtime.h>

#include "../05_pipe/pipe.h"
#include "selective_scan.h"
#include "span.cuh"

#define STEPS_FLOATS(lanes) ROOM(2 * BOTH(lanes), STEPS) /* of a chunk: step and step u */

template <typename stored, int lanes>
struct states_block {
    struct span<stored, lanes, 2> spans[2];
    float steps[SPAN_WARPS][2 * STEPS_FLOATS(lanes)];
};

template <typename stored, int lanes>
static __global__ void __launch_bounds__(32 * SPAN_WARPS, 2) fused_states(struct selective_args args, float *saved)
{
    extern __shared__ float4 shared[];
    struct states_block<stored, lanes> *const block = (struct states_block<stored, lanes> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const struct pair_place place = place_pair<lanes, SPAN_WARPS>(&args);
    const int part = place.part, row = place.row, mine = first_own_step<lanes>(part);
    const float bias = args.delta_bias != NULL && row < place.here ? args.delta_bias[place.channel + row] : 0.0f;
    const size_t chunks = (seq_len - 1) / STEPS + 1;
    float A[2][4], h[2][4];
    load_pair<lanes>(&args, &place, place.channel, args.A, A);
    load_pair<lanes>(&args, &place, place.channels, args.initial_state, h);
#pragma unroll
    for (int i = 0; i < 8; i++)
        A[i / 4][i % 4] *= LOG2_E;
    saved += (blockIdx.x * SPAN_WARPS + warp) * chunks * A_LANE * 32 + lane * 4;
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += 32 * SPAN_WARPS)
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();

    fetch_span(&args, &place, 0, &block->spans[0]);
    __pipeline_commit();
    for (int at = 0, now = 0; at < seq_len; at += SPAN, now = 1 - now) {
        struct span<stored, lanes, 2> *const span = &block->spans[now];
        __pipeline_wait_prior(0);
        widen_span(span);
        __syncthreads(); /* the span has come, and nobody needs the other one any more */
        fetch_span(&args, &place, at + SPAN, &block->spans[1 - now]);
        __pipeline_commit();
        prepare_span<stored, lanes>(span->own[warp], row, mine, at, seq_len, bias, args.delta_softplus,
                                    block->steps[warp], STEPS_FLOATS(lanes));
        __syncwarp();
#pragma unroll
        for (int chunk = 0; chunk < 2; chunk++) {
            const float *const steps = block->steps[warp] + chunk * STEPS_FLOATS(lanes);
            if (at + chunk * STEPS < seq_len)
                put_states(saved + chunk * A_LANE * 32, h);
#pragma unroll
            for (int t = 0; t < STEPS; t += 4) {
                float step[2][4], step_u[2][4];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    get<STEPS, 4>(steps, row ^ 2 * k, t, step[k]);
                    get<STEPS, 4>(steps + ROOM(BOTH(lanes), STEPS), row ^ 2 * k, t, step_u[k]);
                }
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float B[4];
                    get4(span->common[chunk] + state_at<lanes>(i, place.order, part) + t, B);
#pragma unroll
                    for (int j = 0; j < 4; j++)
#pragma unroll
                        for (int k = 0; k < 2; k++)
                            h[k][i] = fast_exp2(step[k][j] * A[k][i]) * h[k][i] + step_u[k][j] * B[j];
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
    const size_t blocks = args->batch * args->groups * parts->per_group, bytes = sizeof(struct states_block<stored, lanes>);
    const cudaError_t error = pipe_allow_shared((const void *)fused_states<stored, lanes>, bytes, 80);
    if (error == cudaSuccess)
        fused_states<stored, lanes><<<(unsigned)blocks, 32 * SPAN_WARPS, bytes, stream>>>(*args, parts->rest);
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

extern "C" cudaError_t selective_fused_states(const struct selective_args *args,
                                                    const struct selective_parts *parts, cudaStream_t stream)
{
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, parts, stream)
           : args->storage == FP16 ? launch<__half>(args, parts, stream)
                                   : launch<float>(args, parts, stream);
}
