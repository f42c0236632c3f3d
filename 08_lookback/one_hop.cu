/* SPDX-License-Identifier: MIT */
/* one_hop.cu - resident.cu for sequences whose tiles all fit the chip at once, with less to do at its end. There are no
   tickets, and no windows: a tile reads the aggregates of all tiles before it, in one hop. Nothing is cleaned, since
   what is published says by which launch (one_hop.cuh). So not every block is counted: the last tile of each sequence
   alone counts, and looks at the answer when it has stored.

       all warps    load | scan |                                | add what comes in | store
       warp 0       and prefetch| publish | read all before, join|                   |
       last tile                                                 | count             |     | next number          */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "lookback.h"
#include "one_hop.cuh"
#include "warp_rows.cuh"

/* Each block computes a tile of inputs, coeffs and outputs, (num_seqs, seq_len). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(ONE_HOP_MAX_THREADS)
    one_hop_forward(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs, struct states states, struct one_hop_space *space)
{
    __shared__ struct warp_totals totals;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const unsigned seq = blockIdx.x / tiling.seq_tiles, num_seqs = gridDim.x / tiling.seq_tiles;
    const bool counts = threadIdx.x == 0 && tile.number_in_seq + 1 == tiling.seq_tiles;
    float x[rows][4], c[rows][4];
    struct pair before[rows];
    struct one_hop_begin begin = {};
    unsigned launch = 0, counted = 0; /* of warp 0, and of the thread that counts */

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    if (warp == 0)
        begin = one_hop_enter(space, blockIdx.x, tile.number_in_seq, lane);
    rows_load_from<rows, from_end>(&states, seq, inputs, coeffs, &tile, own, x, c);
    const struct pair warp_aggregate = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);

    /* [hop] 3. Warp 0 publishes the aggregate, and reads those of all tiles before. */
    if (warp == 0) {
        launch = __shfl_sync(ALL_LANES, begin.last_launch, 0) + 1;
        const struct pair aggregate = pair_shfl(up_to_warp, num_warps - 1);
        if (lane == 0 && !one_hop_may_begin(begin, launch))
            __trap(); /* the workspace was not initialised, or another launch uses it */
        if (lane == 0)
            one_hop_publish(space, blockIdx.x, launch, aggregate);
        const float carry = is_first ? 0.0f : one_hop_carry(space, blockIdx.x, tile.number_in_seq, launch, lane);
        if (lane == 0)
            carry_found = carry;
    }
    __syncthreads();
    if (counts)
        counted = one_hop_count(space, num_seqs);

    /* [add] 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++)
        store4_unsplit<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
    leave_state<rows>(&states, tile_end(&tile), own, x, seq);
    if (counts)
        one_hop_leave(space, counted, num_seqs, launch);
}

typedef void one_hop_forward_kernel(struct tiling, const float *, const float *, float *, struct states,
                                    struct one_hop_space *);

/* [reverse], with 1, 2 and 4 rows. */
static one_hop_forward_kernel *const kernels[2][3] = {
    {one_hop_forward<1, 0>, one_hop_forward<2, 0>, one_hop_forward<4, 0>},
    {one_hop_forward<1, 1>, one_hop_forward<2, 1>, one_hop_forward<4, 1>},
};

static cudaError_t fit(const struct linrec_args *args, const struct gpu_info *gpu, struct one_hop_plan *plan)
{
    one_hop_forward_kernel *const *const row = kernels[args->reverse];
    const void *const of_rows[] = {(const void *)row[0], (const void *)row[1], (const void *)row[2]};
    return one_hop_fit(of_rows, args, gpu, plan);
}

extern "C" bool lookback_one_hop_has_room(const struct linrec_args *args)
{
    struct gpu_info gpu;
    struct one_hop_plan plan;
    return gpu_info_read(&gpu) == cudaSuccess && fit(args, &gpu, &plan) == cudaSuccess;
}

extern "C" cudaError_t lookback_one_hop_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                           cudaStream_t stream)
{
    struct one_hop_plan plan;
    cudaError_t error = fit(args, gpu, &plan);
    if (error == cudaSuccess)
        error = lookback_check(args, false, &plan.tiling, ONE_HOP_BYTES);
    if (error != cudaSuccess)
        return error;
    if (plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, false, stream);
    cudaLaunchAttribute together = all_resident();
    cudaLaunchConfig_t launch = launch_of(plan.tiling.num_tiles, plan.threads, 0, stream);
    launch.attrs = &together;
    launch.numAttrs = 1;
    return cudaLaunchKernelEx(&launch, kernels[args->reverse][plan.rows / 2], plan.tiling, args->inputs, args->coeffs,
                              args->outputs, states_of(args), (struct one_hop_space *)args->workspace);
}

extern "C" cudaError_t lookback_one_hop(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_one_hop_on, args, stream);
}
