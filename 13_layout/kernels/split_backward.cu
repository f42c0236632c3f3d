/* SPDX-License-Identifier: MIT */
/* split_backward.cu - the gradients of loop_backward.cu in the chunks of split.cu. What goes from step to step is
   e = c d, so a warp's steps hand on e by their product and sum, as forward hands on y.

       1. load d_outputs, coeffs, and outputs one step earlier      2. join e      3. d_inputs, d_coeffs             */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_join.cuh"
#include "chunk_plan.h"
#include "gradient_steps.cuh"
#include "kernels.h"

enum { MAX_WARPS = SPLIT_MAX_THREADS / 32 };

template <int dtype, int width>
static __global__ void __launch_bounds__(SPLIT_MAX_THREADS, 1)
    split_gradients(struct walk walk, struct chunk_plan plan, struct walked d_outputs, struct walked coeffs,
                    struct walked outputs, struct walked d_inputs, struct walked d_coeffs, struct end_states states,
                    struct chunk_space *space)
{
    __shared__ struct block_totals<width, MAX_WARPS> totals;
    __shared__ unsigned long long ticket;
    constexpr int rows = SPLIT_ROWS_BACKWARD; /* steps of a warp */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (threadIdx.x == 0)
        ticket = draw_ticket(space);
    __syncthreads();
    const struct chunk chunk = chunk_of<width>(&plan, space, ticket);
    const struct place place = {chunk.batch, chunk.position + warp * rows, chunk.channel + lane * width};
    const struct place later = {place.batch, place.position + 1, place.channel};
    const long long left = walk.seq_len - place.position;
    const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */

    /* 1. Load. What do these steps do by themselves? */
    unsigned d_words[rows][WORDS(dtype, width)], c_words[rows][WORDS(dtype, width)];
    unsigned y_words[rows][WORDS(dtype, width)];
    load_steps<dtype, width, rows>(&d_outputs, &place, count, 0, d_words);
    load_steps<dtype, width, rows>(&coeffs, &place, count, identity_coeff(dtype, walk.log_coeffs), c_words);
    load_steps<dtype, width, rows>(&outputs, &later, count == left ? count - 1 : count, 0, y_words);
    const unsigned begins = begins_among<rows>(&walk, place.position), ends = ends_among<rows>(&walk, place.position);
    const unsigned *const d = d_words[0], *const c = c_words[0], *const y = y_words[0];
    constexpr int next = WORDS(dtype, width);
    float product[width], e[width];
    if (begins != 0)
        aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, d, c, next, states.d_final_state, &place, product,
                                      e);
    else if (walk.log_coeffs)
        aggregate<dtype, width, rows>(&walk, true, 0, d, c, next, states.d_final_state, &place, product, e);
    else
        aggregate<dtype, width, rows>(&walk, false, 0, d, c, next, states.d_final_state, &place, product, e);

    /* 2. Join. */
    struct look<width> look;
    look.is_fresh = false; /* there are no registers for a first look, as tensor_map has it */
    join<width, MAX_WARPS>(&totals, &chunk, !begins_at(&walk, chunk.position), &look, product, e, begins != 0, e);

    /* 3. The steps once more, from what comes in. */
    const struct gradients_at to = {element<dtype>(&d_inputs, place.batch, place.position, place.channel),
                                    element<dtype>(&d_coeffs, place.batch, place.position, place.channel),
                                    d_inputs.step, d_coeffs.step};
    if (begins != 0 || ends != 0 || count != rows)
        apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, d, c, y, next, to, &states, &place, e);
    else if (walk.log_coeffs)
        apply<dtype, width, rows>(&walk, true, 0, 0, rows, d, c, y, next, to, &states, &place, e);
    else
        apply<dtype, width, rows>(&walk, false, 0, 0, rows, d, c, y, next, to, &states, &place, e);
    if (blockIdx.x == 0 && walk.starts != NULL && states.d_initial_state != NULL)
        pass_empty(&walk, states.d_final_state, states.d_initial_state);
}

typedef void gradients_kernel(struct walk, struct chunk_plan, struct walked, struct walked, struct walked,
                              struct walked, struct walked, struct end_states, struct chunk_space *);

extern "C" cudaError_t layout_split_backward(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct chunk_plan plan;
    cudaError_t error = layout_begin(args, true, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if ((error = split_plan(args, true, &plan)) != cudaSuccess)
        return error;
    const struct walk walk = walk_of(args, true);
    gradients_kernel *const wide =
        by_dtype(args->dtype, split_gradients<FLOAT32, SPLIT_WIDTH_FLOAT32>, split_gradients<BF16, SPLIT_WIDTH_16>,
                 split_gradients<FP16, SPLIT_WIDTH_16>);
    gradients_kernel *const narrow =
        by_dtype(args->dtype, split_gradients<FLOAT32, 1>, split_gradients<BF16, 1>, split_gradients<FP16, 1>);
    const struct end_states states = {args->initial_state, args->d_final_state, args->d_initial_state};
    const cudaLaunchConfig_t launch = launch_of(plan.num_chunks, plan.threads, 0, stream);
    return cudaLaunchKernelEx(
        &launch, plan.width == 1 ? narrow : wide, walk, plan,
        walked_of(&walk, args, args->d_outputs, args->d_outputs_by),
        walked_of(&walk, args, args->coeffs, args->coeffs_by), walked_of(&walk, args, args->outputs, args->outputs_by),
        walked_of(&walk, args, args->d_inputs, args->d_inputs_by),
        walked_of(&walk, args, args->d_coeffs, args->d_coeffs_by), states, (struct chunk_space *)args->workspace);
}
