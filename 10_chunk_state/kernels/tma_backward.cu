/* SPDX-License-Identifier: MIT */
/* tma_backward.cu - the gradients, with tma.cu's tiles from the last chunk to the first; a stage holds a tile of
   the states and one of d_h_out. In 16 bits, if the states are not given, h_local has their place, and each thread
   computes the tile's states again (backward_space.h). d_gamma is a sum over the columns of a decay, which several
   threads have: each leaves its products in shared memory, and after the barrier that the stages need anyway a few
   lanes add up each sum, always in the same order.

       thread          0  1  2 ... 15 | 16 ... 31 | ...        64 columns a decay, four a thread
       products[step]  .  .  .      . |  .      . |            of the thread's four columns
                       +-- decay 0 ---+-- decay 1-+ ...  */
/* The simulator builds it quickly: stages, in unrolled loops. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "tma_sums.cuh"

/* Threads of a block: each has the states of a tile in registers, in 16 bits 64 of them. */
#define MOST_THREADS(dtype) ((dtype) == FLOAT32 ? TMA_MAX_THREADS : TMA_MAX_THREADS / 2)

template <int dtype, int steps>
static __global__ void __launch_bounds__(MOST_THREADS(dtype), 1)
    tma_backward(struct tma_plan plan, bool exclusive, const void *__restrict__ states, const float *__restrict__ gamma,
                 const void *__restrict__ d_h_out, const float *__restrict__ d_final_state,
                 void *__restrict__ d_h_local, float *__restrict__ d_gamma, float *__restrict__ d_initial_state,
                 bool again, const float *__restrict__ initial_state, float *__restrict__ checkpoints)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[TMA_MAX_STAGES];
    float *products = (float *)(stages + plan.own_at); /* of a tile, and of the one before */
    const struct slice slice = slice_of<dtype, steps>(&plan, blockIdx.x);
    const size_t row_bytes = plan.flat.columns * element_bytes(dtype);
    const size_t last = (plan.flat.chunks - 1) / steps * steps; /* the first chunk of the last tile */
    float d[OWN(dtype)], before[OWN(dtype)];                    /* the state before the next tile */

    barriers_init(arrived, plan.stages, steps);
    for (int s = 0; s < plan.stages; s++) /* what is before chunk 0 wraps around, and is no tile */
        tile_load<dtype, steps, 2>(states, d_h_out, gamma, &plan, &slice, last - s * steps,
                                   stages + s * plan.stage_bytes, decays_slot(&plan, stages, s), &arrived[s]);
    state_read<dtype>(d_final_state, &slice, d);
    before_read<dtype>(initial_state, checkpoints, &plan, &slice, last, before);
    const struct sums sums = sums_of<steps>(&slice, OWN(dtype));
    int stage = 0, parity = 0, toggle = 1, slot = 0;
    for (size_t first = last; first <= last; first -= steps, toggle = -toggle) {
        char *const from = stages + stage * plan.stage_bytes;
        uint4 h_words[steps], d_words[steps];
        float decays[steps], h[steps][OWN(dtype)];
        mbarrier_wait(&arrived[stage], parity);
        tile_read<dtype, steps>(&plan, &slice, from, h_words);
        tile_read<dtype, steps>(&plan, &slice, from + plan.tile_bytes, d_words);
        fence_proxy_async(); /* the tile was read before its stage is filled again */
        cp_async_wait<4>(plan.stages - 1);
        __syncthreads(); /* ... and its decays, and the last one's products, are there for all */
        tile_load<dtype, steps, 2>(states, d_h_out, gamma, &plan, &slice, first - plan.stages * steps, from,
                                   decays_slot(&plan, stages, slot == 0 ? plan.stages : slot - 1), &arrived[stage]);
        decays_read<steps>(&slice, decays_slot(&plan, stages, slot), decays);
        slot = slot == plan.stages ? 0 : slot + 1;
        if (first != last)
            add_products<steps>(&plan, &slice, sums, first + steps, products, d_gamma);
        products += toggle * steps * PRODUCTS; /* to the other ones, and back */

        if (STRETCH(dtype) > 1) {
            states_of<dtype, steps>(h_words, again, decays, before, h);
            before_read<dtype>(initial_state, checkpoints, &plan, &slice, first - steps, before);
        }

        const int in = (int)tile_chunks<steps>(&plan, first);
        char *to = (char *)d_h_local + slice_at<dtype>(&plan, &slice, first) + slice.own * element_bytes(dtype) +
                   steps * row_bytes;
#pragma unroll
        for (int s = steps - 1; s >= 0; s--) {
            float d_out[OWN(dtype)], product = 0.0f;
            to -= row_bytes;
            if (s >= in)
                continue;
            if (STRETCH(dtype) == 1)
                unpack16<dtype>(h_words[s], h[s]);
            unpack16<dtype>(d_words[s], d_out);
#pragma unroll
            for (int c = 0; c < OWN(dtype); c++) {
                d[c] += exclusive ? 0.0f : d_out[c];
                product += d[c] * h[s][c];
            }
            if (slice.inside)
                write16<dtype>(to, d);
#pragma unroll
            for (int c = 0; c < OWN(dtype); c++)
                d[c] = decays[s] * d[c] + (exclusive ? d_out[c] : 0.0f);
            if (slice.inside)
                products[s * PRODUCTS + sums.own] = product;
        }
        if (++stage == plan.stages)
            stage = 0, parity ^= 1;
    }
    __syncthreads();
    add_products<steps>(&plan, &slice, sums, 0, products, d_gamma);
    state_write<dtype>(d_initial_state, &slice, d);
}

extern "C" size_t chunk_state_tma_workspace(const struct chunk_state_args *args, bool backward)
{
    const struct flat_state flat = flat_state_of(args);
    if (!backward || flat.columns == 0)
        return 0;
    const unsigned threads = args->config.threads != 0 ? (unsigned)args->config.threads : 32; /* few: many parts */
    const struct slicing slicing = slicing_of(&flat, threads * (unsigned)(16 / dtype_bytes(args->dtype)));
    return backward_workspace(args, STRETCH(args->dtype), slicing.parts);
}

extern "C" cudaError_t chunk_state_tma_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel = by_dtype(args->dtype, tma_backward<FLOAT32, 4>, tma_backward<BF16, 8>, tma_backward<FP16, 8>);
    const int steps = args->dtype == FLOAT32 ? 4 : 8, stages = args->dtype == FLOAT32 ? 3 : 2;
    struct tma_plan plan;
    struct backward_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, 0, stream, &done);
    if (!done)
        error = args->config.threads > MOST_THREADS(args->dtype)
                    ? cudaErrorInvalidValue
                    : tma_plan_of(args, (const void *)kernel, 256, stages, steps, 2, 2 * (size_t)steps * sizeof(float),
                                  32, &plan);
    if (!done && error == cudaSuccess)
        error = backward_space(args, STRETCH(args->dtype), plan.slicing.parts, chunk_state_tma, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.items, plan.threads, plan.shared, stream);
    error = cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, space.states, args->gamma, args->d_h_out,
                               args->d_final_state, args->d_h_local, space.d_gamma, args->d_initial_state, space.again,
                               space.initial_state, space.checkpoints);
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
