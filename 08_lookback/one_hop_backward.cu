/* SPDX-License-Identifier: MIT */
/* one_hop_backward.cu - one_hop.cu for the gradients, as chapter 06 has them: the coefficients move on by one element,
   and d_coeffs is d_inputs times the next output.

       group of a lane     s            s+1              s+2              s+3
       d_inputs            into + dy    * c[s] + dy      * c[s+1] + dy    * c[s+2] + dy      * c[s+3] = into of the next
       d_coeffs            * y[s+1]     * y[s+2]         * y[s+3]         * y[s+4], the next lane's first            */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "gradient_rows.cuh"
#include "lookback.h"
#include "one_hop.cuh"

/* Each block computes a tile of all arrays, (num_seqs, seq_len). `from_end`: the scan begins at the end, as after a
   forward pass. The 1: without it ptxas may save registers for more blocks, and spill one (rows 1, sm_75). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(ONE_HOP_MAX_THREADS, 1)
    one_hop_backward(struct tiling tiling, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                     const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs,
                     struct states states, struct one_hop_space *space)
{
    __shared__ struct warp_totals totals;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const unsigned seq = blockIdx.x / tiling.seq_tiles, num_seqs = gridDim.x / tiling.seq_tiles;
    const bool counts = threadIdx.x == 0 && tile.number_in_seq + 1 == tiling.seq_tiles;
    float x[rows][4], c[rows][4], y[rows][4];
    struct pair before[rows];
    struct one_hop_begin begin = {};
    unsigned launch = 0, counted = 0; /* of warp 0, and of the thread that counts */

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    if (warp == 0)
        begin = one_hop_enter(space, blockIdx.x, tile.number_in_seq, lane);
    const float y_behind =
        rows_load_gradients<rows, from_end>(&states, seq, d_outputs, coeffs, outputs, &tile, own, lane, x, c, y);
    const struct pair warp_aggregate = rows_scan_shifted<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    const float initial_state = tile.is_last ? state_load(states.initial_state, seq) : 0.0f;
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
        if (counts)
            leave_gradient(&states, is_first ? aggregate.sum : carry * aggregate.product + aggregate.sum, seq);
    }
    __syncthreads();
    if (counts)
        counted = one_hop_count(space, num_seqs);

    /* [add] 4. What comes in is added, and both gradients are stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int at = own + r * PIPE_ROW;
        row_d_coeffs(&states, initial_state, tile_end(&tile) - at, x[r], y[r], r + 1 < rows ? y[r + 1][0] : y_behind,
                     lane);
        store4_unsplit<from_end>(d_inputs + tile.at, at, tile.first, tile.last, x[r]);
        store4_unsplit<from_end>(d_coeffs + tile.at, at, tile.first, tile.last, y[r]);
    }
    if (counts)
        one_hop_leave(space, counted, num_seqs, launch);
}

typedef void one_hop_backward_kernel(struct tiling, const float *, const float *, const float *, float *, float *,
                                     struct states, struct one_hop_space *);

/* [reverse], with 1, 2 and 4 rows. The gradients of a forward pass are a reversed scan. */
static one_hop_backward_kernel *const kernels[2][3] = {
    {one_hop_backward<1, 1>, one_hop_backward<2, 1>, one_hop_backward<4, 1>},
    {one_hop_backward<1, 0>, one_hop_backward<2, 0>, one_hop_backward<4, 0>},
};

static cudaError_t fit(const struct linrec_args *args, const struct gpu_info *gpu, struct one_hop_plan *plan)
{
    one_hop_backward_kernel *const *const row = kernels[args->reverse];
    const void *const of_rows[] = {(const void *)row[0], (const void *)row[1], (const void *)row[2]};
    return one_hop_fit(of_rows, args, gpu, plan);
}

extern "C" cudaError_t lookback_one_hop_backward_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                                    cudaStream_t stream)
{
    struct one_hop_plan plan;
    cudaError_t error = fit(args, gpu, &plan);
    if (error == cudaSuccess)
        error = lookback_check(args, true, &plan.tiling, ONE_HOP_BYTES);
    if (error != cudaSuccess)
        return error;
    if (plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, true, stream);
    cudaLaunchAttribute together = all_resident();
    cudaLaunchConfig_t launch = launch_of(plan.tiling.num_tiles, plan.threads, 0, stream);
    launch.attrs = &together;
    launch.numAttrs = 1;
    return cudaLaunchKernelEx(&launch, kernels[args->reverse][plan.rows / 2], plan.tiling, args->d_outputs,
                              args->coeffs, args->outputs, args->d_inputs, args->d_coeffs, states_of(args),
                              (struct one_hop_space *)args->workspace);
}

extern "C" cudaError_t lookback_one_hop_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_one_hop_backward_on, args, stream);
}
