/* SPDX-License-Identifier: MIT */
/* tensor_map_backward.cu - the gradients of split_backward.cu from boxes in shared memory, as in tensor_map.cu. There
   are three of them, so a multiprocessor keeps two chunks. The box of the outputs begins one step earlier in time; what
   lies before the first step comes as 0.

       d_outputs    steps 32 ... 63       d_inputs lie there later
       coeffs       steps 32 ... 63       d_coeffs lie there later
       outputs      steps 31 ... 62                                                                                 */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/tma.h"
#include "chunk_join.cuh"
#include "gradient_steps.cuh"
#include "kernels.h"
#include "tensor_maps.h"

template <int dtype, bool from_last>
static __global__ void __launch_bounds__(TILE_WARPS * 32, 2)
    tensor_map_gradients(struct walk walk, struct chunk_plan plan, const __grid_constant__ CUtensorMap d_outputs,
                         const __grid_constant__ CUtensorMap coeffs, const __grid_constant__ CUtensorMap outputs,
                         const __grid_constant__ CUtensorMap d_inputs, const __grid_constant__ CUtensorMap d_coeffs,
                         struct walked d_input_rows, struct walked d_coeff_rows, struct end_states states,
                         struct chunk_space *space)
{
    constexpr int width = TILE_WIDTH(dtype), rows = TILE_ROWS, words = TILE_LINE / 4;
    extern __shared__ __align__(TILE_LINE) unsigned boxes[]; /* of each warp 3 * rows lines; behind them the totals */
    struct block_totals<width, TILE_WARPS> *const totals =
        (struct block_totals<width, TILE_WARPS> *)(boxes + TILE_WARPS * 3 * rows * words);
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

    /* 1. Load. What do these steps do by themselves? */
    unsigned *const d_box = boxes + warp * 3 * rows * words, *const c_box = d_box + rows * words;
    unsigned *const y_box = c_box + rows * words;
    const int channel = (int)chunk.channel, batch = (int)chunk.batch;
    const int step = (int)(from_last ? left - rows : place.position), earlier = from_last ? step - 1 : step + 1;
    if (lane == 0 && left > 0) {
        mbarrier_expect(&arrived[warp], 3 * rows * TILE_LINE);
        tma_load_box(d_box, &d_outputs, channel, step, batch, &arrived[warp]);
        tma_load_box(c_box, &coeffs, channel, step, batch, &arrived[warp]);
        tma_load_box(y_box, &outputs, channel, earlier, batch, &arrived[warp]);
    }
    struct look<width> look;
    look_ahead<width>(&chunk, &look);
    const unsigned begins = begins_among<rows>(&walk, place.position), ends = ends_among<rows>(&walk, place.position);
    unsigned *const d = d_box + (from_last ? (rows - 1) * words : 0) + lane, *const c = d + rows * words;
    unsigned *const y = c + rows * words;
    constexpr int next = from_last ? -words : words;
    float product[width], e[width];
    if (left > 0)
        mbarrier_wait(&arrived[warp], 0);
    if (left <= 0)
        nothing<width>(product, e);
    else if (begins != 0)
        aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, d, c, next, states.d_final_state, &place, product,
                                      e);
    else if (walk.log_coeffs)
        aggregate<dtype, width, rows>(&walk, true, 0, d, c, next, states.d_final_state, &place, product, e);
    else
        aggregate<dtype, width, rows>(&walk, false, 0, d, c, next, states.d_final_state, &place, product, e);

    /* 2. Join. */
    join<width, TILE_WARPS>(totals, &chunk, !begins_at(&walk, chunk.position), &look, product, e, begins != 0, e);

    /* 3. The steps once more, from what comes in. */
    const struct gradients_at to = {(char *)d, (char *)c, 4 * next, 4 * next};
    if (begins != 0 || ends != 0)
        apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, d, c, y, next, to, &states, &place, e);
    else if (walk.log_coeffs && left > 0)
        apply<dtype, width, rows>(&walk, true, 0, 0, rows, d, c, y, next, to, &states, &place, e);
    else if (left > 0)
        apply<dtype, width, rows>(&walk, false, 0, 0, rows, d, c, y, next, to, &states, &place, e);

    if (from_last && step < 0) { /* the TMA stores no box that begins before its array */
        store_steps<dtype>(&d_input_rows, &place, count, d, next);
        store_steps<dtype>(&d_coeff_rows, &place, count, c, next);
    } else {
        fence_proxy_async(); /* the TMA shall find what this thread has written */
        __syncwarp();
        if (lane == 0 && left > 0) {
            tma_store_box(&d_inputs, channel, step, batch, d_box);
            tma_store_box(&d_coeffs, channel, step, batch, c_box);
            tma_store_commit();
            tma_store_wait_read(); /* shared memory goes with the block */
        }
    }
    if (blockIdx.x == 0 && walk.starts != NULL && states.d_initial_state != NULL)
        pass_empty(&walk, states.d_final_state, states.d_initial_state);
}

typedef void tensor_map_kernel(struct walk, struct chunk_plan, const CUtensorMap, const CUtensorMap, const CUtensorMap,
                               const CUtensorMap, const CUtensorMap, struct walked, struct walked, struct end_states,
                               struct chunk_space *);

extern "C" cudaError_t layout_tensor_map_backward(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct chunk_plan plan;
    CUtensorMap maps[TENSOR_MAPS];
    cudaError_t error = layout_begin(args, true, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const struct walk walk = walk_of(args, true);
    tensor_map_kernel *const kernel =
        walk.from_last ? by_dtype(args->dtype, tensor_map_gradients<FLOAT32, true>, tensor_map_gradients<BF16, true>,
                                  tensor_map_gradients<FP16, true>)
                       : by_dtype(args->dtype, tensor_map_gradients<FLOAT32, false>, tensor_map_gradients<BF16, false>,
                                  tensor_map_gradients<FP16, false>);
    const size_t shared = (size_t)TILE_WARPS * 3 * TILE_ROWS * TILE_LINE + sizeof(struct block_totals<2, TILE_WARPS>);
    if ((error = tensor_map_plan(args, true, &plan)) != cudaSuccess ||
        (error = gpu_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess ||
        (error = tensor_maps_of(args, true, maps)) != cudaSuccess)
        return error;
    const struct end_states states = {args->initial_state, args->d_final_state, args->d_initial_state};
    const cudaLaunchConfig_t launch = launch_of(plan.num_chunks, plan.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, walk, plan, maps[0], maps[1], maps[2], maps[3], maps[4],
                              walked_of(&walk, args, args->d_inputs, args->d_inputs_by),
                              walked_of(&walk, args, args->d_coeffs, args->d_coeffs_by), states,
                              (struct chunk_space *)args->workspace);
}
