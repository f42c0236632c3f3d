/* SPDX-License-Identifier: MIT */
/* tma_sums.cuh - the sums over columns of tma_backward.cu and split_backward.cu: how their threads add up the products
   of a tile. */
#ifndef TMA_SUMS_CUH
#define TMA_SUMS_CUH

#include "tma_tile.cuh"

/* Products of a chunk: one for each thread, and some room between them. */
#define PRODUCTS ((int)blockDim.x + 32)

/* Where a thread leaves its products, and which sums it adds up: `team` lanes one, and then perhaps another one. */
struct sums {
    int each, stride; /* threads of a decay; from one's products to the next one's */
    int own, team, lane;
    int step, decay, more_steps, more_decays;
};

template <int steps>
static __device__ __forceinline__ struct sums sums_of(const struct slice *slice, int own_columns)
{
    struct sums sums;
    const int decays = slice->decays, threads = blockDim.x;
    sums.each = slice->columns / decays / own_columns;
    sums.stride = decays + (sums.each < 32 ? 32 / sums.each : 0); /* a warp's products go to different banks */
    sums.own = threadIdx.x % sums.each * sums.stride + threadIdx.x / sums.each;
    sums.team = 32;
    while (sums.team > 1 && steps * decays * sums.team > threads)
        sums.team /= 2;
    sums.lane = threadIdx.x % sums.team;
    sums.step = threadIdx.x / sums.team / decays, sums.decay = threadIdx.x / sums.team % decays;
    sums.more_steps = threads / sums.team / decays, sums.more_decays = threads / sums.team % decays;
    return sums;
}

/* Adds up the products of each chunk and decay of a tile. d_gamma has parts sums a decay. */
template <int steps>
static __device__ __forceinline__ void add_products(const struct tma_plan *plan, const struct slice *slice,
                                                    struct sums sums, size_t first, const float *products,
                                                    float *d_gamma)
{
    const int decays = slice->decays, chunks = (int)tile_chunks<steps>(plan, first);
    const int rounds = (chunks * decays * sums.team - 1) / (int)blockDim.x + 1;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        const float *const from = products + sums.step * PRODUCTS + sums.decay;
        float sum = 0.0f;
#pragma unroll 8
        for (int i = sums.lane; sums.step < chunks && i < sums.each; i += sums.team)
            sum += from[i * sums.stride];
        for (int d = sums.team / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, d);
        if (sums.step < chunks && sums.lane == 0)
            d_gamma[((slice->row + first + sums.step) * plan->flat.decays + slice->first_decay + sums.decay) *
                        plan->slicing.parts +
                    slice->part] = sum;
        sums.step += sums.more_steps, sums.decay += sums.more_decays;
        if (sums.decay >= decays)
            sums.decay -= decays, sums.step++;
    }
}

#endif
