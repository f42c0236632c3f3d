/* SPDX-License-Identifier: MIT */
/* fused_backward.cu - state_passing_backward.cu without passing, for shapes with many channels: a warp takes all chunks
   of its channels, from last to first. So it has the gradient behind a chunk when it comes there, and goes through the
   chunk twice, not three times.

       tile      fetched by the block: 16 steps of its 64 channels (of 16 states), B and C (tile.cuh)
       chunk 1   of each warp's 16 channels: h and a forward; g, and all gradients, back         8 steps
       chunk 0   the same

   The block adds up what its warps leave of d_B and d_C one tile later, behind the barrier that it needs anyway. Where
   channels are few, a sequence is cut into segments (fused_carry.cu), and each has blocks of its own. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "grid.h"
#include "selective_check.h"
#include "workspace.h"
enum { TILE = 16 }; /* steps */
#include "chunk_gradients.cuh"
#include "elementwise_gradients.cuh"
#include "tile_gradients.cuh"

enum { THREADS = 32 * FUSED_WARPS };

template <typename dtype, int lanes>
static __global__ void __launch_bounds__(THREADS, 2)
    fused_backward(struct selective_args args, struct selective_parts parts)
{
    enum { own = OWN_STEPS(lanes) };
    extern __shared__ float4 shared[];
    struct gradients_block<dtype, lanes> *const block = (struct gradients_block<dtype, lanes> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const struct pair_place place = place_pair<lanes, FUSED_WARPS>(&args);
    const int part = place.part, row = place.row, order = place.order, mine = first_own_step<lanes>(part);
    const struct block_place block_place = place_block(&args, FUSED_WARPS * BOTH(lanes), parts.per_group);
    const int channel = warp * BOTH(lanes) + row; /* of the block */
    const bool here = row<place.here, several = gridDim.y> 1;
    const float bias = args.delta_bias != NULL && here ? args.delta_bias[place.channel + row] : 0.0f;
    const float D = args.D != NULL && here ? args.D[place.channel + row] : 0.0f;
    const size_t chunks = (seq_len - 1) / STEPS + 1, of_warp = chunks * parts.saved_floats;
    const float *const saved = parts.rest + (blockIdx.x * FUSED_WARPS + warp) * of_warp;
    const size_t carries = blockIdx.y * args.batch * args.channels * args.states; /* of this segment */
    const int begin = blockIdx.y * (int)parts.segment_steps, end = min(seq_len, begin + (int)parts.segment_steps);
    const int sum_row = order * lanes + part, sum_at = first_sum<lanes>(lane);
    float *const d_A_so_far = block->d_A[warp] + lane * 4, *const so_far = block->so_far[warp] + lane * 2;
    float A[2][4], carry[2][4];
    load_A<lanes>(&args, &place, A);
    load_pair<lanes>(&args, &place, place.channels, several ? parts.end + carries : NULL, carry);
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS)
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();
    put_states(block->before[warp] + lane * 4, carry);
    load_pair<lanes>(&args, &place, place.channels, several ? parts.start + carries : args.d_final_state, carry);
    const int last = (end - 1) / TILE * TILE, saved_steps = place.here > 0 ? seq_len : 0, floats = parts.saved_floats;
    int now = 0;
    fetch_gradients(&args, &block_place, saved, floats, last, saved_steps, block, 0);
    for (int at = last; at >= begin; at -= TILE, now = 1 - now) {
        const int next = at > begin ? at - TILE : -1;
        struct tile<dtype, lanes, 4, FUSED_WARPS * BOTH(lanes)> *const tile = &block->tiles[now];
        /* [tile] The next tile comes, and the sums of the one behind are complete. */
        __pipeline_wait_prior(0);
        widen_tile<THREADS>(tile);
        __syncthreads(); /* the tile has come, and nobody needs the other one any more */
        fetch_gradients(&args, &block_place, saved, floats, next, saved_steps, block, 1 - now);
        if (at != last)
            add_tile<lanes>(&args, &parts, block->sums[1 - now], at + TILE);
        prepare_tile<dtype, lanes>(&args, tile, channel, row, mine, seq_len - at - mine, bias, block->steps[warp]);
        if (several)
            add_before<lanes>(block->before[warp] + lane * 4, block->so_long[now][warp][0], row, A,
                              block->states[now][warp][0] + lane * 4);
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
            get<TILE, own>(tile->own[0], channel, own_at, u);
            get<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, d_z);
            finish_z<lanes>(u, d_z, part, D, y);
            put<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, y);

            /* 2. Backward: the gradients. */
            float d_input[STEPS], d_step[STEPS], d_B[STEPS], d_A[2][4] = {};
            walk_back<lanes>(&rows, A, a, kept, left, carry, d_A, d_input, d_step, d_B);
            fold_channels<lanes>(d_B, lane);
            put<TILE, lanes>(block->sums[now][0][warp], sum_row, chunk * STEPS + sum_at, d_B);
            add_states(d_A_so_far, d_A);
            fold_states<lanes>(d_input, part);
            fold_states<lanes>(d_step, part);
            get<TILE, own>(tile->own[0], channel, own_at, u);
            get<TILE, own>(tile->own[1], channel, own_at, delta);
            get<STEPS, own>(steps, row, mine, step);
            get<STEPS, own>(steps + 2 * PREPARED_ROWS(lanes), row, mine, d_y);
            get<STEPS, own>(steps + 3 * PREPARED_ROWS(lanes), row, mine, d_z);
            finish_own<lanes>(&args, u, delta, step, d_y, bias, D, left - mine, d_input, d_step, so_far);
            if (here)
                store_own<dtype, lanes>(&args, place.channels + row, first + mine, left >= STEPS && seq_len % 4 == 0,
                                        d_input, d_step, d_z);
        }
    }
    __syncthreads();
    add_tile<lanes>(&args, &parts, block->sums[1 - now], begin);
    store_pair<lanes>(&args, &place, carry, begin == 0 ? args.d_initial_state : NULL);
    add_warps<lanes>(&args, &parts, &place, 1, 0, d_A_so_far, so_far);
}

template <typename dtype, int lanes>
static cudaError_t launch_lanes(const struct selective_args *args, const struct selective_parts *parts,
                                cudaStream_t stream)
{
    const size_t blocks = args->batch * args->groups * parts->per_group;
    const size_t bytes = sizeof(struct gradients_block<dtype, lanes>);
    const cudaError_t error = gpu_allow_shared((const void *)fused_backward<dtype, lanes>, bytes, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch =
        launch_of(dim3((unsigned)blocks, (unsigned)parts->segments), THREADS, bytes, stream);
    return cudaLaunchKernelEx(&launch, fused_backward<dtype, lanes>, *args, *parts);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_parts *parts, cudaStream_t stream)
{
    return selective_state_passing_lanes(args) == 2 ? launch_lanes<dtype, 2>(args, parts, stream)
                                                    : launch_lanes<dtype, 4>(args, parts, stream);
}

extern "C" cudaError_t selective_fused_backward(const struct selective_args *args, cudaStream_t stream)
{
    cudaError_t error = selective_check_args(args, true, selective_fused_workspace(args, true));
    if (error != cudaSuccess || !selective_fused_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    struct selective_parts parts;
    error = selective_fused_plan(args, &parts);
    if (error == cudaSuccess)
        error = selective_fused_states(args, &parts, stream);
    if (error == cudaSuccess)
        error = selective_fused_carry(args, &parts, stream);
    if (error == cudaSuccess)
        error = args->dtype == BF16   ? launch<__nv_bfloat16>(args, &parts, stream)
                : args->dtype == FP16 ? launch<__half>(args, &parts, stream)
                                      : launch<float>(args, &parts, stream);
    return error != cudaSuccess ? error : selective_add_up(args, &parts, stream);
}
