/* SPDX-License-Identifier: MIT */
/* split_backward.cu - the gradients of a few heads: tma_backward.cu, whose chunks are spread over the blocks of a
   cluster as in split.cu. Segment 0 has the last chunks. A stage holds a tile of the states and one of d_h_out; what
   goes through a segment is made of d_h_out and the decays alone, and the states are needed when the block goes through
   its stages once more:

       block of segment 0   | sum | barrier, join | d_h_local, products | sum | ...     of d_h_out, of both
       block of segment 1   | sum | barrier, join | d_h_local, products | sum | ...

   Both large inputs so come from memory once. As in tma_backward.cu h_local may have the states' place in 16 bits, and
   d_gamma is summed up: each thread leaves its products in shared memory, and after the barrier of the next tile a few
   lanes add up each sum. */
/* The simulator builds it quickly: stages, in unrolled loops. */
#include <cuda_runtime.h>

#include "backward_space.h"
#include "kernels.h"
#include "split.cuh"
#include "tma_sums.cuh"

template <int dtype, int steps>
static __global__ void __launch_bounds__(TMA_SPLIT_MAX_THREADS, 1)
    split_backward(struct split_plan plan, bool exclusive, const void *__restrict__ states,
                   const float *__restrict__ gamma, const void *__restrict__ d_h_out,
                   const float *__restrict__ d_final_state, void *__restrict__ d_h_local, float *__restrict__ d_gamma,
                   float *__restrict__ d_initial_state, bool again, const float *__restrict__ initial_state,
                   float *__restrict__ checkpoints)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[TMA_MAX_STAGES];
    const struct tma_plan *const tma = &plan.tma;
    const unsigned segment = cluster_rank();
    const struct slice slice = slice_of<dtype, steps>(tma, blockIdx.x / plan.segments);
    const struct sums sums = sums_of<steps>(&slice, OWN(dtype));
    const size_t row_bytes = tma->flat.columns * element_bytes(dtype);
    const size_t last = (tma->flat.chunks - 1) / steps * steps; /* the first chunk of tile 0 */
    float4 *const pairs = (float4 *)(stages + tma->own_at);
    float *products = (float *)pairs + 2 * (OWN(dtype) + 1) * blockDim.x; /* of a tile, and of the one before */
    float d[OWN(dtype)], decays[steps], h[steps][OWN(dtype)];
    float before[OWN(dtype)]; /* the state before the next tile that is gone through again */
    uint4 d_words[steps], h_words[steps];
    struct split_position sum = {(size_t)segment * plan.each, plan.each, 0, 0}, write = sum, next = sum, later = sum;
    size_t added = (size_t)-1; /* the first chunk of the tile whose products are to be added up: of none yet */
    int toggle = 1;

    barriers_init(arrived, tma->stages, steps);
    for (int s = 0; s < tma->stages; s++, split_advance(&later, &plan)) /* what is before chunk 0 is no tile */
        tile_load<dtype, steps, 2>(states, d_h_out, gamma, tma, &slice, last - later.tile * steps,
                                   stages + s * tma->stage_bytes, decays_slot(tma, stages, s), &arrived[s]);
    state_read<dtype>(d_final_state, &slice, d);
    before_read<dtype>(initial_state, checkpoints, tma, &slice, last - next.tile * steps, before);
    for (unsigned window = 0; window < plan.windows; window++) {
        float factor = 1.0f, through[OWN(dtype)];

        /* 1. What the segment makes of 0; its tiles stay in their stages. All of its decays come first. */
#pragma unroll
        for (int c = 0; c < OWN(dtype); c++)
            through[c] = 0.0f;
        cp_async_wait<4>(tma->stages - (int)plan.each);
        __syncthreads();
        for (unsigned n = 0; n < plan.each; n++, split_advance(&sum, &plan)) {
            const int in = (int)tile_chunks<steps>(tma, last - sum.tile * steps);
            if (in == 0)
                continue; /* the last segments may have fewer tiles, or none */
            mbarrier_wait(&arrived[sum.stage], sum.parity);
            tile_read<dtype, steps>(tma, &slice, stages + sum.stage * tma->stage_bytes + tma->tile_bytes, d_words);
            decays_read<steps>(&slice, decays_slot(tma, stages, sum.stage), decays);
            tile_fill<steps>(in, d_words, decays);
#pragma unroll
            for (int s = steps - 1; s >= 0; s--) {
                float d_out[OWN(dtype)];
                unpack16<dtype>(d_words[s], d_out);
                factor *= decays[s];
#pragma unroll
                for (int c = 0; c < OWN(dtype); c++)
                    through[c] = exclusive ? decays[s] * through[c] + d_out[c] : decays[s] * (through[c] + d_out[c]);
            }
        }

        /* 2. and 3. What comes into the segment from behind. */
        split_join<dtype>(&plan, pairs, segment, window % 2, factor, through, d);
        if (window == plan.windows - 1)
            cluster_arrive(); /* this block has read all pairs that it needs */

        /* 4. Go through the segment again, write d_h_local, leave the products, and fill each stage anew. */
        for (unsigned n = 0; n < plan.each; n++, split_advance(&write, &plan), split_advance(&later, &plan)) {
            const size_t first = last - write.tile * steps;
            char *const from = stages + write.stage * tma->stage_bytes;
            const int in = (int)tile_chunks<steps>(tma, first);
            char *to = (char *)d_h_local + slice_at<dtype>(tma, &slice, first) + slice.own * element_bytes(dtype) +
                       steps * row_bytes;
            tile_read<dtype, steps>(tma, &slice, from, h_words);
            tile_read<dtype, steps>(tma, &slice, from + tma->tile_bytes, d_words);
            decays_read<steps>(&slice, decays_slot(tma, stages, write.stage), decays);
            tile_fill<steps>(in, d_words, decays);
            fence_proxy_async(); /* the tile was read before its stage is filled again */
            __syncthreads();     /* ... and the last one's products are there for all */
            tile_load<dtype, steps, 2>(states, d_h_out, gamma, tma, &slice, last - later.tile * steps, from,
                                       decays_slot(tma, stages, write.stage), &arrived[write.stage]);
            if (STRETCH(dtype) > 1) {
                states_of<dtype, steps>(h_words, again, decays, before, h);
                split_advance(&next, &plan);
                before_read<dtype>(initial_state, checkpoints, tma, &slice, last - next.tile * steps, before);
            }
            add_products<steps>(tma, &slice, sums, added, products, d_gamma);
            products += toggle * steps * PRODUCTS; /* to the other ones, and back */
            toggle = -toggle;
            added = first;
#pragma unroll
            for (int s = steps - 1; s >= 0; s--) {
                float d_out[OWN(dtype)], product = 0.0f;
                to -= row_bytes;
                if (STRETCH(dtype) == 1)
                    unpack16<dtype>(h_words[s], h[s]);
                unpack16<dtype>(d_words[s], d_out);
#pragma unroll
                for (int c = 0; c < OWN(dtype); c++) {
                    d[c] += exclusive ? 0.0f : d_out[c];
                    product += d[c] * h[s][c];
                }
                write16<dtype>(to, d, slice.inside && s < in);
                if (slice.inside)
                    products[s * PRODUCTS + sums.own] = product;
#pragma unroll
                for (int c = 0; c < OWN(dtype); c++)
                    d[c] = decays[s] * d[c] + (exclusive ? d_out[c] : 0.0f);
            }
        }
    }
    __syncthreads();
    add_products<steps>(tma, &slice, sums, added, products, d_gamma);
    if (segment == plan.segments - 1)
        state_write<dtype>(d_initial_state, &slice, d);
    cluster_wait(); /* the others have read this block's pairs */
}

/* How many stages? More of them make windows longer, but blocks larger; and clusters that find no room wait until
   others have ended. With 6 stages 4 heads took 60 us and 2 heads 32 (512 chunks, float32, single runs on an H200); we
   think that this is why. So as many, from 6 to 3, as all clusters run at once with; if not even 3 will do, 6. */
static cudaError_t split_backward_plan(const struct chunk_state_args *args, const void *kernel, int steps,
                                       struct split_plan *plan)
{
    const size_t own_bytes = split_pair_bytes(args->dtype) + 2 * (size_t)steps * sizeof(float);
    for (int stages = 6;; stages = stages > 3 ? stages - 1 : 0) {
        int clusters = 0;
        cudaLaunchAttribute cluster = {};
        cudaError_t error =
            tma_plan_of(args, kernel, 64, stages != 0 ? stages : 6, steps, 2, own_bytes, 32, &plan->tma);
        if (error == cudaSuccess)
            error = split_plan(args, (size_t)steps, plan);
        if (error != cudaSuccess || stages == 0 || args->config.stages != 0)
            return error;
        const cudaLaunchConfig_t launch = split_launch(plan, &cluster, 0);
        error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch);
        if (error != cudaSuccess || (unsigned)clusters >= plan->tma.items)
            return error;
    }
}

extern "C" cudaError_t chunk_state_split_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel =
        by_dtype(args->dtype, split_backward<FLOAT32, 4>, split_backward<BF16, 8>, split_backward<FP16, 8>);
    const int steps = args->dtype == FLOAT32 ? 4 : 8;
    struct split_plan plan;
    struct backward_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, 0, stream, &done);
    if (!done)
        error = split_backward_plan(args, (const void *)kernel, steps, &plan);
    if (!done && error == cudaSuccess)
        error = backward_space(args, STRETCH(args->dtype), plan.tma.slicing.parts, chunk_state_split, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    cudaLaunchAttribute cluster = {};
    const cudaLaunchConfig_t launch = split_launch(&plan, &cluster, stream);
    error = cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, space.states, args->gamma, args->d_h_out,
                               args->d_final_state, args->d_h_local, space.d_gamma, args->d_initial_state, space.again,
                               space.initial_state, space.checkpoints);
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
