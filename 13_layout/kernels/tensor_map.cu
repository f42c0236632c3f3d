/* SPDX-License-Identifier: MIT */
/* tensor_map.cu - split.cu, but a warp's steps wait in shared memory and not in registers, and the TMA moves them. It
   is told once, in a tensor map, where an array's channels, steps and batches lie; a thread then names a box by the
   coordinates of its first element, and the whole box comes.

       channels ->                           shared memory of a warp
       +-----------------------------+       x   line of step 0    128 bytes: each lane's word lies in a bank of its own
       | steps     +-----+           |           line of step 1
       |   |       | box |           |  -->      ...
       |   v       +-----+           |       c   line of step 0
       +-----------------------------+           ...               later y lies where x was, and goes back as a box

   What of a box lies outside of the array comes as 0, and is not stored. With 8 warps of 32 steps a multiprocessor
   keeps three chunks of 64 KB, half as much again as split.cu has in registers, and the chain of chunks is half as
   long. */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/tma.h"
#include "chunk_join.cuh"
#include "forward_steps.cuh"
#include "kernels.h"
#include "tensor_maps.h"

template <int dtype, bool from_last>
static __global__ void __launch_bounds__(TILE_WARPS * 32, 3)
    tensor_map_forward(struct walk walk, struct chunk_plan plan, const __grid_constant__ CUtensorMap inputs,
                       const __grid_constant__ CUtensorMap coeffs, const __grid_constant__ CUtensorMap outputs,
                       struct walked output_rows, const float *__restrict__ initial_state,
                       float *__restrict__ final_state, struct chunk_space *space)
{
    constexpr int width = TILE_WIDTH(dtype), rows = TILE_ROWS, words = TILE_LINE / 4; /* of a line: one a lane */
    extern __shared__ __align__(TILE_LINE) unsigned boxes[]; /* of each warp 2 * rows lines; behind them the totals */
    struct block_totals<width, TILE_WARPS> *const totals =
        (struct block_totals<width, TILE_WARPS> *)(boxes + TILE_WARPS * 2 * rows * words);
    __shared__ unsigned long long ticket;
    __shared__ uint64_t arrived[TILE_WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (lane == 0) {
        mbarrier_init(&arrived[warp], 1);
        mbarrier_init_done();
    }
    if (threadIdx.x == 0)
        ticket = draw_ticket(space);
    __syncthreads();
    const struct chunk chunk = chunk_of<width>(&plan, space, ticket);
    const struct place place = {chunk.batch, chunk.position + warp * rows, chunk.channel + lane * width};
    const long long left = walk.seq_len - place.position; /* 0 or less: the warp has nothing to do but to join */
    const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */

    /* [ask] 1. Load: a box lies as memory does, whichever way the walk goes. */
    unsigned *const x_box = boxes + warp * 2 * rows * words, *const c_box = x_box + rows * words;
    const int channel = (int)chunk.channel, batch = (int)chunk.batch;
    const int step = (int)(from_last ? left - rows : place.position);
    if (lane == 0 && left > 0) {
        mbarrier_expect(&arrived[warp], 2 * rows * TILE_LINE);
        tma_load_box(x_box, &inputs, channel, step, batch, &arrived[warp]);
        tma_load_box(c_box, &coeffs, channel, step, batch, &arrived[warp]);
    }

    /* [own] What do these steps do by themselves? */
    struct look<width> look;
    look_ahead<width>(&chunk, &look);
    const unsigned begins = begins_among<rows>(&walk, place.position);
    const unsigned ends = final_state != NULL ? ends_among<rows>(&walk, place.position) : 0;
    unsigned *const x = x_box + (from_last ? (rows - 1) * words : 0) + lane, *const c = x + rows * words;
    constexpr int next = from_last ? -words : words;
    float product[width], y[width];
    if (left > 0)
        mbarrier_wait(&arrived[warp], 0);
    if (left <= 0)
        nothing<width>(product, y);
    else if (begins != 0)
        aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, x, c, next, initial_state, &place, product, y);
    else if (walk.log_coeffs)
        aggregate<dtype, width, rows>(&walk, true, 0, x, c, next, initial_state, &place, product, y);
    else
        aggregate<dtype, width, rows>(&walk, false, 0, x, c, next, initial_state, &place, product, y);

    /* 2. Join. */
    join<width, TILE_WARPS>(totals, &chunk, !begins_at(&walk, chunk.position), &look, product, y, begins != 0, y);

    /* 3. The steps once more, from what comes in. */
    if (begins != 0 || ends != 0)
        apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, x, c, next, (char *)x, 4 * next,
                                  initial_state, final_state, &place, y);
    else if (walk.log_coeffs && left > 0)
        apply<dtype, width, rows>(&walk, true, 0, 0, rows, x, c, next, (char *)x, 4 * next, initial_state, final_state,
                                  &place, y);
    else if (left > 0)
        apply<dtype, width, rows>(&walk, false, 0, 0, rows, x, c, next, (char *)x, 4 * next, initial_state, final_state,
                                  &place, y);

    /* [box] The TMA loads boxes that begin before the array, but stores none of them. */
    if (from_last && step < 0) {
        store_steps<dtype>(&output_rows, &place, count, x, next);
    } else {
        fence_proxy_async(); /* the TMA shall find what this thread has written */
        __syncwarp();
        if (lane == 0 && left > 0) {
            tma_store_box(&outputs, channel, step, batch, x_box);
            tma_store_commit();
            tma_store_wait_read(); /* shared memory goes with the block */
        }
    }

    /* [empty] An empty sequence has no steps. */
    if (blockIdx.x == 0 && walk.starts != NULL && final_state != NULL)
        pass_empty(&walk, initial_state, final_state);
}

typedef void tensor_map_kernel(struct walk, struct chunk_plan, const CUtensorMap, const CUtensorMap, const CUtensorMap,
                               struct walked, const float *, float *, struct chunk_space *);

extern "C" cudaError_t layout_tensor_map(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct chunk_plan plan;
    CUtensorMap maps[TENSOR_MAPS];
    cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const struct walk walk = walk_of(args, false);
    tensor_map_kernel *const kernel = walk.from_last
                                          ? by_dtype(args->dtype, tensor_map_forward<FLOAT32, true>,
                                                     tensor_map_forward<BF16, true>, tensor_map_forward<FP16, true>)
                                          : by_dtype(args->dtype, tensor_map_forward<FLOAT32, false>,
                                                     tensor_map_forward<BF16, false>, tensor_map_forward<FP16, false>);
    const size_t shared = (size_t)TILE_WARPS * 2 * TILE_ROWS * TILE_LINE + sizeof(struct block_totals<2, TILE_WARPS>);
    if ((error = tensor_map_plan(args, false, &plan)) != cudaSuccess ||
        (error = gpu_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess ||
        (error = tensor_maps_of(args, false, maps)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.num_chunks, plan.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, walk, plan, maps[0], maps[1], maps[2],
                              walked_of(&walk, args, args->outputs, args->outputs_by), args->initial_state,
                              args->final_state, (struct chunk_space *)args->workspace);
}
