/* SPDX-License-Identifier: MIT */
/* prefetch_backward.cu - split_backward.cu with the next chunk on its way, as in prefetch.cu. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_join.cuh"
#include "gradient_steps.cuh"
#include "kernels.h"
#include "split_plan.h"

#ifdef EXPERIMENT
#define FP16_ BF16
#else
#define FP16_ FP16
#endif
template <int dtype, int width, int rows>
static __global__ void __launch_bounds__(MAX_WARPS * 32, 1)
    prefetch_gradients(struct walk walk, struct split_plan plan, struct walked d_outputs, struct walked coeffs,
                    struct walked outputs, struct results results, struct chunk_space *space)
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
        request_steps<dtype, width, rows>(&d_outputs, &walk, &place, 0, &stage[0]);
        request_steps<dtype, width, rows>(&coeffs, &walk, &place, 0, &stage[STAGE_BYTES(dtype, width, rows)]);
        request_steps<dtype, width, rows>(&outputs, &walk, &place, 1, &stage[2 * STAGE_BYTES(dtype, width, rows)]);
        __pipeline_commit();
    }
    for (int round = 0; number < plan.num_chunks; round++) {
        const long long left = walk.seq_len - place.position;
        const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */

        /* 1. Take what has arrived, and ask for the next chunk. What do these steps do by themselves? */
        unsigned d_words[rows][WORDS(dtype, width)], c_words[rows][WORDS(dtype, width)];
        unsigned y_words[rows][WORDS(dtype, width)];
        __pipeline_wait_prior(0);
        take_steps<dtype, width, rows>(&stage[0], count, 0, d_words);
        take_steps<dtype, width, rows>(&stage[STAGE_BYTES(dtype, width, rows)], count, identity, c_words);
        take_steps<dtype, width, rows>(&stage[2 * STAGE_BYTES(dtype, width, rows)], count == left ? count - 1 : count, 0,
                                       y_words);
        const struct chunk after = chunk_of<width>(&plan, space, next, launch);
        const struct place there = {after.batch, after.position + warp * rows, after.channel + lane * width};
        if (next < plan.num_chunks) {
            request_steps<dtype, width, rows>(&d_outputs, &walk, &there, 0, &stage[0]);
            request_steps<dtype, width, rows>(&coeffs, &walk, &there, 0, &stage[STAGE_BYTES(dtype, width, rows)]);
            request_steps<dtype, width, rows>(&outputs, &walk, &there, 1, &stage[2 * STAGE_BYTES(dtype, width, rows)]);
            __pipeline_commit();
        }
        if (threadIdx.x == 0) {
            tickets[round % 2] = check_ticket(space, drawn, plan.num_chunks + 3 * gridDim.x);
            drawn = draw_ticket(space);
        }
        const unsigned begins = begins_among<rows>(&walk, place.position), ends = ends_among<rows>(&walk, place.position);
        float product[width], e[width];
        if (begins != 0)
            aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, d_words, c_words, results.d_final_state,
                                          &place, product, e);
        else if (walk.log_coeffs)
            aggregate<dtype, width, rows>(&walk, true, 0, d_words, c_words, results.d_final_state, &place, product, e);
        else
            aggregate<dtype, width, rows>(&walk, false, 0, d_words, c_words, results.d_final_state, &place, product, e);

        /* 2. Join. */
        join<width>(&totals, &chunk, !begins_at(&walk, chunk.position), product, e, begins != 0, e);

        /* 3. The steps once more, from what comes in. */
        if (begins != 0 || ends != 0 || count != rows)
            apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, d_words, c_words, y_words, &results,
                                      &place, e);
        else if (walk.log_coeffs)
            apply<dtype, width, rows>(&walk, true, 0, 0, rows, d_words, c_words, y_words, &results, &place, e);
        else
            apply<dtype, width, rows>(&walk, false, 0, 0, rows, d_words, c_words, y_words, &results, &place, e);
        if (number == 0 && walk.starts != NULL && results.d_initial_state != NULL)
            pass_empty(&walk, results.d_final_state, results.d_initial_state);
        number = next, next = (unsigned)tickets[round % 2];
        chunk = after, place = there;
    }
}

typedef void gradients_kernel(struct walk, struct split_plan, struct walked, struct walked, struct walked,
                              struct results, struct chunk_space *);

extern "C" cudaError_t layout_prefetch_backward(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct split_plan plan;
    cudaError_t error = layout_begin(args, true, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if ((error = prefetch_plan(args, true, &plan)) != cudaSuccess)
        return error;
    const struct walk walk = walk_of(args, true);
#define FOR(width, rows)                                                                                               \
    by_dtype(args->dtype, prefetch_gradients<FLOAT32, width, rows>, prefetch_gradients<BF16, width, rows>,                   \
             prefetch_gradients<FP16_, width, rows>)
    gradients_kernel *const kernel = plan.width == 4   ? (plan.rows == 8 ? FOR(4, 8) : FOR(4, 16))
                                 : plan.width == 2 ? (plan.rows == 8 ? FOR(2, 8) : FOR(2, 16))
                                                   : (plan.rows == 8 ? FOR(1, 8) : FOR(1, 16));
#undef FOR
    unsigned blocks;
    if ((error = split_blocks((const void *)kernel, &plan, &blocks)) != cudaSuccess)
        return error;
    const struct results results = {walked_of(&walk, args, args->d_inputs, args->d_inputs_by),
                                    walked_of(&walk, args, args->d_coeffs, args->d_coeffs_by), args->initial_state,
                                    args->d_final_state, args->d_initial_state};
    const cudaLaunchConfig_t launch = launch_of(blocks, plan.threads, plan.shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, walk, plan,
                              walked_of(&walk, args, args->d_outputs, args->d_outputs_by),
                              walked_of(&walk, args, args->coeffs, args->coeffs_by),
                              walked_of(&walk, args, args->outputs, args->outputs_by), results,
                              (struct chunk_space *)args->workspace);
}
