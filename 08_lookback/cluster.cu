/* SPDX-License-Identifier: MIT */
/* cluster.cu - resident.cu for sequences of some tiles: their blocks are a cluster. They run at the same time, and each
   writes its tile's aggregate into the shared memory of all. So there are no descriptors, no tickets and no workspace,
   and nobody polls: a barrier of the cluster tells that all aggregates are there.

       block 0    load | scan | aggregate |          | scan the aggregates: what comes in | add | store
       block 1    load | scan | aggregate |--> to    | scan the aggregates: what comes in | add | store
       ...                                |    each  |
       block 15   load | scan | aggregate |          | scan the aggregates: what comes in | add | store
                     ^                               ^
                     all have begun                  all aggregates are there: barriers of the cluster               */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "cluster_plan.h"
#include "lookback.h"
#include "warp_rows.cuh"

/* Each block computes a tile of inputs, coeffs and outputs, (num_seqs, seq_len); a cluster computes a sequence. */
template <int rows, int from_end>
static __global__ void __launch_bounds__(CLUSTER_MAX_THREADS)
    cluster_forward(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs, struct states states)
{
    __shared__ struct warp_totals totals; /* of this tile, by warp, */
    __shared__ struct warp_totals tiles;  /* and of the sequence, by tile */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    float x[rows][4], c[rows][4];
    struct pair before[rows];

    cluster_arrive_relaxed(); /* this block has begun */
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const unsigned seq = blockIdx.x / tiling.seq_tiles;

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    rows_load_from<rows, from_end>(&states, seq, inputs, coeffs, &tile, own, x, c);
    const struct pair warp_aggregate = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
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

    /* [add] 4. What comes in is added, and the tile is stored. */
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++)
        store4_unsplit<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
    leave_state<rows>(&states, tile_end(&tile), own, x, seq);
}

extern "C" cudaError_t lookback_cluster_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                           cudaStream_t stream)
{
    struct cluster_plan plan;
    cudaError_t error = linrec_check_args_and_states(args, false);
    if (error == cudaSuccess)
        error = cluster_plan(args, CLUSTER_MAX_BLOCKS, gpu, &plan);
    if (error != cudaSuccess)
        return error;
    if (plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, false, stream);
    void (*const kernel)(struct tiling, const float *, const float *, float *, struct states) =
        args->reverse ? (plan.rows == 2 ? cluster_forward<2, 1> : cluster_forward<4, 1>)
                      : (plan.rows == 2 ? cluster_forward<2, 0> : cluster_forward<4, 0>);

    /* [launch] <<<...>>> cannot say how large a cluster is. */
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
    return cudaLaunchKernelEx(&launch, kernel, plan.tiling, args->inputs, args->coeffs, args->outputs, states_of(args));
}

extern "C" cudaError_t lookback_cluster(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_cluster_on, args, stream);
}
