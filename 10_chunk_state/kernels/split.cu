/* SPDX-License-Identifier: MIT */
/* split.cu - few heads: a slice's chunks are spread over the blocks of a cluster, its segments, and wait on the chip.
   In each window of chunks a block first sums up its segment from 0 (chapter 08's pair: a product of decays and a sum),
   and when all have done so, it knows the state that comes into its segment from the others' shared memory. Then it
   goes through its stages once more and writes the states, here of four blocks:

       block of segment 0   | sum | barrier, join | write          | sum | ...
       block of segment 1   | sum | barrier, join | write          | sum | ...
       block of segment 2   | sum | barrier, join | write          | sum | ...
       block of segment 3   | sum | barrier, join | write          | sum | ...
                              window 0                               window 1

   h_local so comes from memory once, as in tma.cu. A block reads only the pairs of the segments before its own. The
   last one comes to the end of the window, and tells the others with which state the next one begins. */
#include <cuda_runtime.h>

#include "kernels.h"
#include "split.cuh"

template <int dtype>
static __global__ void __launch_bounds__(TMA_SPLIT_MAX_THREADS, 1)
    split_forward(struct split_plan plan, bool exclusive, const void *__restrict__ h_local,
                  const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                  float *__restrict__ final_state, float *__restrict__ checkpoints)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[TMA_MAX_STAGES];
    const struct tma_plan *const tma = &plan.tma;
    const unsigned segment = cluster_rank();
    const struct slice slice = slice_of<dtype, TILE_STEPS>(tma, blockIdx.x / plan.segments);
    const size_t chunks = tma->flat.chunks, row_bytes = tma->flat.columns * element_bytes(dtype);
    /* states after a chunk that are written */
    const size_t num_out = STRETCH(dtype) > 1 && checkpoints != NULL ? 0 : exclusive ? chunks - 1 : chunks;
    char *const out =
        (char *)h_out + slice_at<dtype>(tma, &slice, exclusive ? 1 : 0) + slice.own * element_bytes(dtype);
    float4 *const pairs = (float4 *)(stages + tma->own_at);
    float h[OWN(dtype)], decays[TILE_STEPS];
    uint4 x[TILE_STEPS];
    struct split_position sum = {(size_t)segment * plan.each, plan.each, 0, 0}, write = sum, later = sum;

    barriers_init(arrived, tma->stages, TILE_STEPS);
    for (int s = 0; s < tma->stages; s++, split_advance(&later, &plan))
        tile_load<dtype, TILE_STEPS, 1>(h_local, NULL, gamma, tma, &slice, later.tile * TILE_STEPS,
                                        stages + s * tma->stage_bytes, decays_slot(tma, stages, s), &arrived[s]);
    state_read<dtype>(initial_state, &slice, h);
    for (unsigned window = 0; window < plan.windows; window++) {
        float factor = 1.0f, through[OWN(dtype)];

        /* 1. Sum up the segment; its tiles stay in their stages. All of its decays come first. */
#pragma unroll
        for (int c = 0; c < OWN(dtype); c++)
            through[c] = 0.0f;
        cp_async_wait<4>(tma->stages - (int)plan.each);
        __syncthreads();
        for (unsigned n = 0; n < plan.each; n++, split_advance(&sum, &plan)) {
            const int in = (int)tile_chunks<TILE_STEPS>(tma, sum.tile * TILE_STEPS);
            if (in == 0)
                continue; /* the last segments may have fewer tiles, or none */
            mbarrier_wait(&arrived[sum.stage], sum.parity);
            tile_read<dtype, TILE_STEPS>(tma, &slice, stages + sum.stage * tma->stage_bytes, x);
            decays_read<TILE_STEPS>(&slice, decays_slot(tma, stages, sum.stage), decays);
            tile_fill<TILE_STEPS>(in, x, decays);
#pragma unroll
            for (int s = 0; s < TILE_STEPS; s++) {
                factor *= decays[s];
                state_step<dtype>(x[s], decays[s], through);
            }
        }

        /* 2. Tell, and wait until all have told. 3. Join: what comes into the own segment. */
        split_join<dtype>(&plan, pairs, segment, window % 2, factor, through, h);
        if (window == plan.windows - 1)
            cluster_arrive(); /* this block has read all pairs that it needs */
        write16<dtype>(out - row_bytes, h, exclusive && window == 0 && segment == 0 && slice.inside);

        /* 4. Go through the segment again, write the states, and fill each stage anew. */
        for (unsigned n = 0; n < plan.each; n++, split_advance(&write, &plan), split_advance(&later, &plan)) {
            const size_t first = write.tile * TILE_STEPS;
            char *const from = stages + write.stage * tma->stage_bytes, *to = out + first * row_bytes;
            const int in = (int)tile_chunks<TILE_STEPS>(tma, first);
            const int written = slice.inside ? (int)min(num_out - min(first, num_out), (size_t)TILE_STEPS) : 0;
            if (STRETCH(dtype) > 1)
                state_write<dtype>(checkpoint_at<dtype>(checkpoints, tma, first), &slice, h);
            tile_read<dtype, TILE_STEPS>(tma, &slice, from, x);
            decays_read<TILE_STEPS>(&slice, decays_slot(tma, stages, write.stage), decays);
            tile_fill<TILE_STEPS>(in, x, decays);
            if (later.tile * TILE_STEPS < chunks) {
                fence_proxy_async(); /* the tile was read before its stage is filled again */
                __syncthreads();
            }
            tile_load<dtype, TILE_STEPS, 1>(h_local, NULL, gamma, tma, &slice, later.tile * TILE_STEPS, from,
                                            decays_slot(tma, stages, write.stage), &arrived[write.stage]);
#pragma unroll
            for (int s = 0; s < TILE_STEPS; s++, to += row_bytes) {
                state_step<dtype>(x[s], decays[s], h);
                write16<dtype>(to, h, s < written);
            }
        }
    }
    if (segment == plan.segments - 1)
        state_write<dtype>(final_state, &slice, h);
    cluster_wait(); /* the others have read this block's pairs */
}

extern "C" cudaError_t chunk_state_split(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel = by_dtype(args->dtype, split_forward<FLOAT32>, split_forward<BF16>, split_forward<FP16>);
    struct split_plan plan;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = tma_plan_of(args, (const void *)kernel, 64, args->dtype == FLOAT32 ? 5 : 8, TILE_STEPS, 1,
                            split_pair_bytes(args->dtype), 0, &plan.tma);
    if (!done && error == cudaSuccess)
        error = split_plan(args, TILE_STEPS, &plan);
    if (done || error != cudaSuccess)
        return error;
    cudaLaunchAttribute cluster = {};
    const cudaLaunchConfig_t launch = split_launch(&plan, &cluster, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, args->h_local, args->gamma, args->initial_state,
                              args->h_out, args->final_state, args->checkpoints);
}
