/* SPDX-License-Identifier: MIT */
/* split.cu - loop.cu where there are too few channels to fill the chip: time is cut into chunks, too. A block has a
   chunk of 32 * width channels, and each of its warps `rows` steps of them, all in registers from load to store.

                 32 * width channels
       warp 0    rows steps             1. load; what do these steps do by themselves? product and sum, a channel
       warp 1    rows steps             2. join: over the warps, and over the chunks before (chunk_join.cuh)
       ...                              3. walk through them again, from what comes in; store

   Blocks take the chunks by tickets, the earlier ones in time first: a block waits only for chunks whose blocks have
   begun. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_join.cuh"
#include "chunk_plan.h"
#include "forward_steps.cuh"
#include "kernels.h"

enum { MAX_WARPS = SPLIT_MAX_THREADS / 32 };

template <int dtype, int width>
static __global__ void __launch_bounds__(SPLIT_MAX_THREADS, 1)
    split_forward(struct walk walk, struct chunk_plan plan, struct walked inputs, struct walked coeffs,
                  struct walked outputs, const float *__restrict__ initial_state, float *__restrict__ final_state,
                  struct chunk_space *space)
{
    __shared__ struct block_totals<width, MAX_WARPS> totals;
    __shared__ unsigned long long ticket;
    constexpr int rows = SPLIT_ROWS; /* steps of a warp */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (threadIdx.x == 0)
        ticket = draw_ticket(space);
    __syncthreads();
    const struct chunk chunk = chunk_of<width>(&plan, space, ticket);
    const struct place place = {chunk.batch, chunk.position + warp * rows, chunk.channel + lane * width};
    const long long left = walk.seq_len - place.position;
    const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */

    /* 1. Load. What do these steps do by themselves? */
    unsigned x_words[rows][WORDS(dtype, width)], c_words[rows][WORDS(dtype, width)];
    load_steps<dtype, width, rows>(&inputs, &place, count, 0, x_words);
    load_steps<dtype, width, rows>(&coeffs, &place, count, identity_coeff(dtype, walk.log_coeffs), c_words);
    const unsigned begins = begins_among<rows>(&walk, place.position);
    const unsigned ends = final_state != NULL ? ends_among<rows>(&walk, place.position) : 0;
    const unsigned *const x = x_words[0], *const c = c_words[0];
    constexpr int next = WORDS(dtype, width);
    float product[width], y[width];
    if (begins != 0)
        aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, x, c, next, initial_state, &place, product, y);
    else if (walk.log_coeffs)
        aggregate<dtype, width, rows>(&walk, true, 0, x, c, next, initial_state, &place, product, y);
    else
        aggregate<dtype, width, rows>(&walk, false, 0, x, c, next, initial_state, &place, product, y);

    /* [join] 2. Join. */
    struct look<width> look;
    look.is_fresh = false; /* there are no registers for a first look, as tensor_map has it */
    join<width, MAX_WARPS>(&totals, &chunk, !begins_at(&walk, chunk.position), &look, product, y, begins != 0, y);

    /* [again] 3. The steps once more, from what comes in. */
    char *const y_at = element<dtype>(&outputs, place.batch, place.position, place.channel);
    if (begins != 0 || ends != 0 || count != rows)
        apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, x, c, next, y_at, outputs.step,
                                  initial_state, final_state, &place, y);
    else if (walk.log_coeffs)
        apply<dtype, width, rows>(&walk, true, 0, 0, rows, x, c, next, y_at, outputs.step, initial_state, final_state,
                                  &place, y);
    else
        apply<dtype, width, rows>(&walk, false, 0, 0, rows, x, c, next, y_at, outputs.step, initial_state, final_state,
                                  &place, y);
    if (blockIdx.x == 0 && walk.starts != NULL && final_state != NULL)
        pass_empty(&walk, initial_state, final_state);
}

typedef void split_kernel(struct walk, struct chunk_plan, struct walked, struct walked, struct walked, const float *,
                          float *, struct chunk_space *);

extern "C" cudaError_t layout_split(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct chunk_plan plan;
    cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if ((error = split_plan(args, false, &plan)) != cudaSuccess)
        return error;
    const struct walk walk = walk_of(args, false);
    split_kernel *const wide = by_dtype(args->dtype, split_forward<FLOAT32, SPLIT_WIDTH_FLOAT32>,
                                        split_forward<BF16, SPLIT_WIDTH_16>, split_forward<FP16, SPLIT_WIDTH_16>);
    split_kernel *const narrow =
        by_dtype(args->dtype, split_forward<FLOAT32, 1>, split_forward<BF16, 1>, split_forward<FP16, 1>);
    const cudaLaunchConfig_t launch = launch_of(plan.num_chunks, plan.threads, 0, stream);
    return cudaLaunchKernelEx(
        &launch, plan.width == 1 ? narrow : wide, walk, plan, walked_of(&walk, args, args->inputs, args->inputs_by),
        walked_of(&walk, args, args->coeffs, args->coeffs_by), walked_of(&walk, args, args->outputs, args->outputs_by),
        args->initial_state, args->final_state, (struct chunk_space *)args->workspace);
}
