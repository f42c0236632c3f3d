/* SPDX-License-Identifier: MIT */
/* fused_states.cu - the first launch of fused_backward.cu, forward through time: it leaves the states before each chunk
   of 8 steps in the workspace.
       chunk 0      chunk 1      chunk 2      ...
       |h           |h           |h              four floats a lane: half of what a lane of fused_backward.cu will read

   It is fused_steps.cu without output, C and z, in tiles of 32 steps. A lane has one channel, where one of
   fused_backward.cu has two; so two warps do what one will read (channel_pairs.cuh).
   Of several segments each begins with state 0, and leaves what fused_carry.cu needs: with P[t] the product of its
   coefficients up to step t, the last P; the last h; and what the way back makes of 0, start = sum of P[t] d_y[t] C[t].
   Beside the states before a chunk it saves the sum of the steps so far, as P = exp(A sum). */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "grid.h"
#include "workspace.h"
enum { TILE = 32 }; /* steps */
#include "tile_states.cuh"

#define WARPS(lanes, arrays) ((lanes) == 4 ? (arrays) : 2) /* of a block: 16 on a multiprocessor need room for tiles */
#define THREADS(lanes, arrays) (32 * WARPS(lanes, arrays))
#define BLOCKS(lanes, arrays) (2 * FUSED_WARPS / WARPS(lanes, arrays)) /* for what one of fused_backward.cu will read */
#define CHUNK_FLOATS(lanes, arrays) ROOM(((arrays) / 2 + 1) * CHANNELS(lanes), STEPS) /* step, step u and d_y */

template <typename dtype, int lanes, int arrays>
struct states_block {
    struct tile<dtype, lanes, arrays, WARPS(lanes, arrays) * CHANNELS(lanes)> tiles[2];
    float steps[WARPS(lanes, arrays)][2 * CHUNK_FLOATS(lanes, arrays)];
};

template <typename dtype, int lanes, int arrays>
static __global__ void __launch_bounds__(THREADS(lanes, arrays), 16 / WARPS(lanes, arrays))
    fused_states(struct selective_args args, struct selective_parts parts)
{
    enum { several = arrays == 4, channels = WARPS(lanes, arrays) * CHANNELS(lanes) };
    extern __shared__ float4 shared[];
    struct states_block<dtype, lanes, arrays> *const block = (struct states_block<dtype, lanes, arrays> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const struct block_place place = place_block(&args, channels, parts.per_group * BLOCKS(lanes, arrays));
    if (place.here <= 0)
        return;
    const int row = lane / (2 * lanes) * 2 + lane % 2, part = lane / 2 % lanes, mine = first_own<lanes, STEPS>(part);
    const int channel = warp * CHANNELS(lanes) + row; /* of the block */
    struct chunk_place where;
    where.row = channel, where.here = place.here, where.part = part;
    where.both = place.first + min(channel, place.here - 1), where.channel = where.both % args.channels;
    const struct reader reader = reader_of<lanes>(channel % BOTH(lanes), part);
    const bool is_here = channel < place.here; /* else the steps are 0, and so must A be: 0 A is NaN if A is infinite */
    const float bias = args.delta_bias != NULL && is_here ? args.delta_bias[where.channel] : 0.0f;
    const int begin = blockIdx.y * (int)parts.segment_steps, end = min(seq_len, begin + (int)parts.segment_steps);
    const size_t chunks = (seq_len - 1) / STEPS + 1, whose = blockIdx.x * (WARPS(lanes, arrays) / 2) + warp / 2;
    float *const steps = block->steps[warp],
                 *saved = parts.rest + (whose * chunks + begin / STEPS) * parts.saved_floats;
    float A[4], h[4], product[4] = {1.0f, 1.0f, 1.0f, 1.0f}, start[4] = {}, sum = 0.0f;
    load_states<lanes>(&args, &where, several ? NULL : args.initial_state, A, h, reader.order);
#pragma unroll
    for (int i = 0; i < 4; i++)
        A[i] = is_here ? A[i] : 0.0f;
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS(lanes, arrays))
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();
    struct tile_sources sources = find_tile_sources<dtype, lanes, channels>(&args, &place, begin);
    fetch_tile<THREADS(lanes, arrays)>(&args, &place, begin, &block->tiles[0]);
    __pipeline_commit();
    for (int at = begin, now = 0; at < end; at += TILE, now = 1 - now) {
        struct tile<dtype, lanes, arrays, channels> *const tile = &block->tiles[now];
        __pipeline_wait_prior(0);
        widen_tile<THREADS(lanes, arrays)>(tile);
        __syncthreads(); /* the tile has come, and nobody needs the other one any more */
        if (!several && sources.whole && at + 2 * TILE <= end) /* else there are no registers for this */
            send_next<THREADS(lanes, arrays)>(&args, &sources, &block->tiles[1 - now]);
        else
            fetch_tile<THREADS(lanes, arrays)>(&args, &place, at + TILE < end ? at + TILE : -1, &block->tiles[1 - now]);
        __pipeline_commit();
#pragma unroll 1
        for (int both = 0; both < TILE / STEPS; both += 2) { /* chunks */
#pragma unroll
            for (int chunk = both; chunk < both + 2; chunk++)
                prepare_states(&args, tile, channel, chunk, row, mine, at + chunk * STEPS + mine, bias,
                               steps + chunk % 2 * CHUNK_FLOATS(lanes, arrays));
            __syncwarp();
#pragma unroll
            for (int chunk = both; chunk < both + 2; chunk++, saved += parts.saved_floats) {
                const float *const from = steps + chunk % 2 * CHUNK_FLOATS(lanes, arrays);
                if (at + chunk * STEPS < seq_len) {
                    *(float4 *)(saved + reader.at) = make_float4(h[0], h[1], h[2], h[3]);
                    if (several && part == 0)
                        saved[32 * A_LANE + channel % BOTH(lanes)] = sum;
                }
#pragma unroll
                for (int t = 0; t < STEPS; t += 4) {
                    float step[4], step_u[4], d_y[4];
                    get<STEPS, 4>(from, row, t, step);
                    get<STEPS, 4>(from + ROOM(CHANNELS(lanes), STEPS), row, t, step_u);
                    if (several)
                        get<STEPS, 4>(from + ROOM(2 * CHANNELS(lanes), STEPS), row, t, d_y);
                    sum += step[0] + step[1] + (step[2] + step[3]);
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const float *const common = tile->common[chunk] + state_at<lanes>(i, reader.order, part) + t;
                        float B[4], C[4];
                        get4(common, B);
                        if (several)
                            get4(common + ROOM(STATES_OF(lanes), STEPS), C);
#pragma unroll
                        for (int j = 0; j < 4; j++) {
                            const float a = fast_exp2(step[j] * A[i]);
                            h[i] = a * h[i] + step_u[j] * B[j];
                            if (several) {
                                product[i] *= a;
                                start[i] += product[i] * (d_y[j] * C[j]);
                            }
                        }
                    }
                }
            }
            __syncwarp();
        }
    }
    if (several) {
        const size_t segment = blockIdx.y * args.batch * args.channels * args.states;
        store_states<lanes>(&args, &where, product, parts.product + segment, reader.order);
        store_states<lanes>(&args, &where, h, parts.end + segment, reader.order);
        store_states<lanes>(&args, &where, start, parts.start + segment, reader.order);
    }
}

template <typename dtype, int lanes, int arrays>
static cudaError_t launch_arrays(const struct selective_args *args, const struct selective_parts *parts,
                                 cudaStream_t stream)
{
    const size_t of_group = parts->per_group * BLOCKS(lanes, arrays),
                 bytes = sizeof(states_block<dtype, lanes, arrays>);
    const cudaError_t error = gpu_allow_shared((const void *)fused_states<dtype, lanes, arrays>, bytes, 80);
    const dim3 blocks((unsigned)(args->batch * args->groups * of_group), (unsigned)parts->segments);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(blocks, THREADS(lanes, arrays), bytes, stream);
    return cudaLaunchKernelEx(&launch, fused_states<dtype, lanes, arrays>, *args, *parts);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    if (parts->segments == 1)
        return selective_state_passing_lanes(args) == 2 ? launch_arrays<dtype, 2, 2>(args, parts, stream)
                                                        : launch_arrays<dtype, 4, 2>(args, parts, stream);
    return selective_state_passing_lanes(args) == 2 ? launch_arrays<dtype, 2, 4>(args, parts, stream)
                                                    : launch_arrays<dtype, 4, 4>(args, parts, stream);
}

extern "C" cudaError_t selective_fused_states(const struct selective_args *args, const struct selective_parts *parts,
                                              cudaStream_t stream)
{
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, parts, stream)
           : args->dtype == FP16 ? launch<__half>(args, parts, stream)
                                 : launch<float>(args, parts, stream);
}
