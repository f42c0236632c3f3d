/* SPDX-License-Identifier: MIT */
/* tma.cu - prefetch.cu, but TMA brings the next chunks, into stages of shared memory. What is on its way holds no
   registers, so a block can have much on its way; a few blocks are enough, and each reads some KB in a row instead of
   some bytes in many places.

       TMA           tile 0 | tile 1 | tile 2 | tile 3 | tile 4 ...       one stage each, as soon as one is free
       threads                tile 0          | tile 1          | ...     x from the stage, h in registers

   A block has a slice of a batch, in all chunks; the blocks go side by side through the same chunks. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "tma_tile.cuh"

template <int dtype>
static __global__ void __launch_bounds__(TMA_MAX_THREADS, 1)
    tma_forward(struct tma_plan plan, bool exclusive, const void *__restrict__ h_local, const float *__restrict__ gamma,
                const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state,
                float *__restrict__ checkpoints)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[TMA_MAX_STAGES];
    const struct slice slice = slice_of<dtype, TILE_STEPS>(&plan, blockIdx.x);
    const size_t chunks = plan.flat.chunks, row_bytes = plan.flat.columns * element_bytes(dtype);
    /* states after a chunk that are written */
    const size_t num_out = STRETCH(dtype) > 1 && checkpoints != NULL ? 0 : exclusive ? chunks - 1 : chunks;
    char *to = (char *)h_out + slice_at<dtype>(&plan, &slice, 0) + slice.own * element_bytes(dtype);
    float h[OWN(dtype)];

    barriers_init(arrived, plan.stages, TILE_STEPS);
    for (int s = 0; s < plan.stages; s++)
        tile_load<dtype, TILE_STEPS, 1>(h_local, NULL, gamma, &plan, &slice, s * TILE_STEPS,
                                        stages + s * plan.stage_bytes, decays_slot(&plan, stages, s), &arrived[s]);
    state_read<dtype>(initial_state, &slice, h);
    write16<dtype>(to, h, exclusive && slice.inside);
    to += exclusive ? row_bytes : 0;
    int stage = 0, parity = 0, slot = 0;
    for (size_t first = 0; first < chunks; first += TILE_STEPS) {
        if (STRETCH(dtype) > 1)
            state_write<dtype>(checkpoint_at<dtype>(checkpoints, &plan, first), &slice, h);
        char *const from = stages + stage * plan.stage_bytes;
        uint4 x[TILE_STEPS];
        float decays[TILE_STEPS];
        /* [tile] From its stage to registers; the stage is filled again; then one chunk after the other. */
        mbarrier_wait(&arrived[stage], parity);
        tile_read<dtype, TILE_STEPS>(&plan, &slice, from, x);
        fence_proxy_async(); /* the tile was read before its stage is filled again */
        cp_async_wait<4>(plan.stages - 1);
        __syncthreads(); /* ... and its decays are there for all */
        tile_load<dtype, TILE_STEPS, 1>(h_local, NULL, gamma, &plan, &slice, first + plan.stages * TILE_STEPS, from,
                                        decays_slot(&plan, stages, slot == 0 ? plan.stages : slot - 1),
                                        &arrived[stage]);
        decays_read<TILE_STEPS>(&slice, decays_slot(&plan, stages, slot), decays);
        slot = slot == plan.stages ? 0 : slot + 1;

        const int in = (int)tile_chunks<TILE_STEPS>(&plan, first);
        tile_fill<TILE_STEPS>(in, x, decays);
        const int out = slice.inside ? (int)min(num_out - min(first, num_out), (size_t)TILE_STEPS) : 0;
#pragma unroll
        for (int s = 0; s < TILE_STEPS; s++, to += row_bytes) {
            state_step<dtype>(x[s], decays[s], h);
            write16<dtype>(to, h, s < out);
        }
        /* [next] The stage after this one; the parity of its barrier changes once a round. */
        if (++stage == plan.stages)
            stage = 0, parity ^= 1;
    }
    state_write<dtype>(final_state, &slice, h);
}

extern "C" cudaError_t chunk_state_tma(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel = by_dtype(args->dtype, tma_forward<FLOAT32>, tma_forward<BF16>, tma_forward<FP16>);
    struct tma_plan plan;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = tma_plan_of(args, (const void *)kernel, 128, 3, TILE_STEPS, 1, 0, 0, &plan);
    /* float32 takes a fourth stage, unless all blocks find room at the same time without it (measured on an H200) */
    if (!done && error == cudaSuccess && args->dtype == FLOAT32 && plan.items > plan.blocks)
        error = tma_plan_of(args, (const void *)kernel, 128, 4, TILE_STEPS, 1, 0, 0, &plan);
    if (done || error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.items, plan.threads, plan.shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, args->h_local, args->gamma, args->initial_state,
                              args->h_out, args->final_state, args->checkpoints);
}
