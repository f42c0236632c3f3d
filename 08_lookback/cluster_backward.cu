/* SPDX-License-Identifier: MIT */
/* cluster_backward.cu - cluster.cu for the gradients, as chapter 06 has them: the coefficients move on by one element,
   and d_coeffs is d_inputs times the next output. The output behind a tile is another tile's first, in global memory.

       group of a lane     s            s+1              s+2              s+3
       d_inputs            into + dy    * c[s] + dy      * c[s+1] + dy    * c[s+2] + dy      * c[s+3] = into of the next
       d_coeffs            * y[s+1]     * y[s+2]         * y[s+3]         * y[s+4], the next lane's first            */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "cluster_plan.h"
#include "gradient_rows.cuh"
#include "lookback.h"

/* Each block computes a tile of all arrays, (num_seqs, seq_len), a cluster a sequence; `from_end`: the
   scan begins at the end, as after a forward pass. */
template <int rows, int from_end>
static __global__ void __launch_bounds__(CLUSTER_MAX_THREADS)
    cluster_backward(struct tiling tiling, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                     const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs,
                     struct states states)
{
    __shared__ struct warp_totals totals; /* of this tile, by warp, */
    __shared__ struct warp_totals tiles;  /* and of the sequence, by tile */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    float x[rows][4], c[rows][4], y[rows][4], y_behind = 0.0f; /* the first output after the warp's rows */
    struct pair before[rows];

    cluster_arrive_relaxed(); /* this block has begun */
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const unsigned seq = blockIdx.x / tiling.seq_tiles;

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    y_behind = rows_load_gradients<rows, from_end>(&states, seq, d_outputs, coeffs, outputs, &tile, own, lane, x, c, y);
    const struct pair warp_aggregate = rows_scan_shifted<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    const float initial_state = tile.is_last ? state_load(states.initial_state, seq) : 0.0f;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);

    /* [exchange] 3. The aggregate goes to every block of the cluster, a lane for each; then all know what comes into
       theirs. */
    cluster_wait(); /* all blocks have begun */
    if (warp == 0) {
        const struct pair aggregate = pair_shfl(up_to_warp, num_warps - 1);
        if ((unsigned)lane < tiling.seq_tiles) {
            struct warp_totals *const there = (struct warp_totals *)cluster_shared(&tiles, lane);
            there->product[tile.number_in_seq] = aggregate.product, there->sum[tile.number_in_seq] = aggregate.sum;
        }
    }
    cluster_arrive();
    cluster_wait();
    const struct pair up_to_tile = totals_scan(&tiles, tiling.seq_tiles, lane);
    const float carry = __shfl_sync(ALL_LANES, up_to_tile.sum, (tile.number_in_seq + 31) % 32);
    if (threadIdx.x == tiling.seq_tiles - 1 && tile.number_in_seq == tiling.seq_tiles - 1)
        leave_gradient(&states, up_to_tile.sum, seq);

    /* [add] 4. What comes in is added, and both gradients are stored. */
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
}

extern "C" cudaError_t lookback_cluster_backward_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                                    cudaStream_t stream)
{
    struct cluster_plan plan;
    cudaError_t error = linrec_check_args_and_states(args, true);
    if (error == cudaSuccess)
        error = cluster_plan(args, CLUSTER_MAX_BLOCKS / 2, gpu, &plan);
    if (error != cudaSuccess)
        return error;
    if (plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, true, stream);
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(struct tiling, const float *, const float *, const float *, float *, float *, struct states) =
        args->reverse ? (plan.rows == 2 ? cluster_backward<2, 0> : cluster_backward<4, 0>)
                      : (plan.rows == 2 ? cluster_backward<2, 1> : cluster_backward<4, 1>);
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute blocks = {};
    blocks.id = cudaLaunchAttributeClusterDimension;
    blocks.val.clusterDim.x = plan.tiling.seq_tiles;
    blocks.val.clusterDim.y = blocks.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(plan.tiling.num_tiles);
    launch.blockDim = dim3(plan.threads);
    launch.stream = stream;

    /* A part of a chip may have no room for so many blocks near each other. Who asks makes no launch that fails. */
    int most_blocks = 0;
    if ((error = cudaOccupancyMaxPotentialClusterSize(&most_blocks, (const void *)kernel, &launch)) != cudaSuccess)
        return error;
    if ((unsigned)most_blocks < plan.tiling.seq_tiles)
        return cudaErrorNotSupported;
    launch.attrs = &blocks;
    launch.numAttrs = 1;
    return cudaLaunchKernelEx(&launch, kernel, plan.tiling, args->d_outputs, args->coeffs, args->outputs,
                              args->d_inputs, args->d_coeffs, states_of(args));
}

extern "C" cudaError_t lookback_cluster_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_cluster_backward_on, args, stream);
}
