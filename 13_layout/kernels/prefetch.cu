/* SPDX-License-Identifier: MIT */
/* prefetch.cu - split.cu, in which memory has nothing to do while a block joins and stores. Here the next chunk is on its
   way meanwhile, by asynchronous copies (cp.async) into shared memory, where each thread has a place of its own for each
   piece that it will need: it waits for its own copies, and no barrier is needed.

       registers        chunk 0: aggregate, join, store | chunk 1: aggregate, join, store | ...
       shared memory    chunk 1 arrives                 | chunk 2 arrives                 | ...                       */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_join.cuh"
#include "forward_steps.cuh"
#include "kernels.h"
#include "split_plan.h"

#ifdef EXPERIMENT
#define FP16_ BF16
#else
#define FP16_ FP16
#endif
template <int dtype, int width, int rows>
static __global__ void __launch_bounds__(MAX_WARPS * 32, 1)
    prefetch_forward(struct walk walk, struct split_plan plan, struct walked inputs, struct walked coeffs,
                  struct walked outputs, const float *__restrict__ initial_state, float *__restrict__ final_state,
                  struct chunk_space *space)
{
    __shared__ struct block_totals<width> totals;
    extern __shared__ __align__(16) char stage[];
    __shared__ unsigned long long tickets[2]; /* of the chunk after the next one; the other is still being read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long drawn = 0; /* the latest, of thread 0 */

    /* Each block draws three tickets in vain. */
    if (threadIdx.x == 0) {
        tickets[0] = check_ticket(space, draw_ticket(space), plan.num_chunks + 3 * gridDim.x);
        tickets[1] = check_ticket(space, draw_ticket(space), plan.num_chunks + 3 * gridDim.x);
        drawn = draw_ticket(space);
    }
    __syncthreads();
    const unsigned launch = (unsigned)(tickets[0] >> 32), identity = identity_coeff(dtype, walk.log_coeffs);
    unsigned number = (unsigned)tickets[0], next = (unsigned)tickets[1];
    __syncthreads();
    struct chunk chunk = chunk_of<width>(&plan, space, number, launch);
    struct place place = {chunk.batch, chunk.position + warp * rows, chunk.channel + lane * width};
    if (number < plan.num_chunks) {
        request_steps<dtype, width, rows>(&inputs, &walk, &place, 0, &stage[0]);
        request_steps<dtype, width, rows>(&coeffs, &walk, &place, 0, &stage[STAGE_BYTES(dtype, width, rows)]);
        __pipeline_commit();
    }
    for (int round = 0; number < plan.num_chunks; round++) {
        const long long left = walk.seq_len - place.position;
        const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */

        /* 1. Take what has arrived, and ask for the next chunk. What do these steps do by themselves? */
        unsigned x_words[rows][WORDS(dtype, width)], c_words[rows][WORDS(dtype, width)];
        __pipeline_wait_prior(0);
        take_steps<dtype, width, rows>(&stage[0], count, 0, x_words);
        take_steps<dtype, width, rows>(&stage[STAGE_BYTES(dtype, width, rows)], count, identity, c_words);
        const struct chunk after = chunk_of<width>(&plan, space, next, launch);
        const struct place there = {after.batch, after.position + warp * rows, after.channel + lane * width};
        if (next < plan.num_chunks) {
            request_steps<dtype, width, rows>(&inputs, &walk, &there, 0, &stage[0]);
            request_steps<dtype, width, rows>(&coeffs, &walk, &there, 0, &stage[STAGE_BYTES(dtype, width, rows)]);
            __pipeline_commit();
        }
        if (threadIdx.x == 0) {
            tickets[round % 2] = check_ticket(space, drawn, plan.num_chunks + 3 * gridDim.x);
            drawn = draw_ticket(space);
        }
        const unsigned begins = begins_among<rows>(&walk, place.position);
        const unsigned ends = final_state != NULL ? ends_among<rows>(&walk, place.position) : 0;
        float product[width], y[width];
        if (begins != 0)
            aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, x_words, c_words, initial_state, &place,
                                          product, y);
        else if (walk.log_coeffs)
            aggregate<dtype, width, rows>(&walk, true, 0, x_words, c_words, initial_state, &place, product, y);
        else
            aggregate<dtype, width, rows>(&walk, false, 0, x_words, c_words, initial_state, &place, product, y);

        /* 2. Join. */
        join<width>(&totals, &chunk, !begins_at(&walk, chunk.position), product, y, begins != 0, y);

        /* 3. The steps once more, from what comes in. */
        if (begins != 0 || ends != 0 || count != rows)
            apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, x_words, c_words, &outputs,
                                      initial_state, final_state, &place, y);
        else if (walk.log_coeffs)
            apply<dtype, width, rows>(&walk, true, 0, 0, rows, x_words, c_words, &outputs, initial_state, final_state,
                                      &place, y);
        else
            apply<dtype, width, rows>(&walk, false, 0, 0, rows, x_words, c_words, &outputs, initial_state, final_state,
                                      &place, y);
        if (number == 0 && walk.starts != NULL && final_state != NULL)
            pass_empty(&walk, initial_state, final_state);
        number = next, next = (unsigned)tickets[round % 2];
        chunk = after, place = there;
    }
}

typedef void split_kernel(struct walk, struct split_plan, struct walked, struct walked, struct walked, const float *,
                          float *, struct chunk_space *);

extern "C" cudaError_t layout_prefetch(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct split_plan plan;
    cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if ((error = prefetch_plan(args, false, &plan)) != cudaSuccess)
        return error;
    const struct walk walk = walk_of(args, false);
#define FOR(width, rows)                                                                                               \
    by_dtype(args->dtype, prefetch_forward<FLOAT32, width, rows>, prefetch_forward<BF16, width, rows>,                       \
             prefetch_forward<FP16_, width, rows>)
    split_kernel *const kernel = plan.width == 4   ? (plan.rows == 8 ? FOR(4, 8) : FOR(4, 16))
                                 : plan.width == 2 ? (plan.rows == 8 ? FOR(2, 8) : FOR(2, 16))
                                                   : (plan.rows == 8 ? FOR(1, 8) : FOR(1, 16));
#undef FOR
    unsigned blocks;
    if ((error = split_blocks((const void *)kernel, &plan, &blocks)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(blocks, plan.threads, plan.shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, walk, plan, walked_of(&walk, args, args->inputs, args->inputs_by),
                              walked_of(&walk, args, args->coeffs, args->coeffs_by),
                              walked_of(&walk, args, args->outputs, args->outputs_by), args->initial_state,
                              args->final_state, (struct chunk_space *)args->workspace);
}
