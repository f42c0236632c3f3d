/* cluster.cu - resident.cu for sequences of some tiles: their blocks are a cluster. They run at the same time, and each
   writes what its tile does into the shared memory of all. So there are no words, no tickets and no workspace, and
   nobody polls: a barrier of the cluster tells that all totals are there.

       block 0    load | scan | totals |            | what tiles do, up to here | add | store
       block 1    load | scan | totals |--> each    | what tiles do, up to here | add | store
       ...                             |    to each |
       block 15   load | scan | totals |            | what tiles do, up to here | add | store
                     ^                              ^
                     all have begun                 all totals are there: barriers of the cluster                  */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"

#include "lookback.cuh"

/* Each block computes a tile of inputs, coeffs and outputs, (num_seqs, seq_len); a cluster computes a sequence. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(CLUSTER_MAX_THREADS)
    cluster_forward(struct cut cut, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals; /* of this tile, by warp, */
    __shared__ struct warp_totals tiles;  /* and of the sequence, by tile */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    float x[rows][4], c[rows][4];
    struct pair before[rows];

    cluster_arrive_relaxed(); /* this block has begun */
    const struct tile tile = tile_number<reverse>(blockIdx.x, &cut);
    const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

    /* 1. and 2. The tile, and what each warp's part of it does. */
    rows_load<rows, reverse>(inputs, coeffs, &tile, own, x, c);
    const struct pair whole_warp = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);

    /* 3. What the tile does goes to every block of the cluster, a lane for each; then all know what comes into it. */
    cluster_wait(); /* all blocks have begun */
    if (warp == 0) {
        const struct pair whole = pair_shfl(up_to_warp, num_warps - 1);
        if ((unsigned)lane < cut.seq_tiles) {
            struct warp_totals *const there = (struct warp_totals *)cluster_shared(&tiles, lane);
            there->product[tile.number_in_seq] = whole.product, there->sum[tile.number_in_seq] = whole.sum;
        }
    }
    cluster_arrive();
    cluster_wait();
    const struct pair up_to_tile = totals_scan(&tiles, cut.seq_tiles, lane);
    const float carry = __shfl_sync(ALL_LANES, up_to_tile.sum, (tile.number_in_seq + 31) % 32);

    /* 4. What comes in is added, and the tile is stored. */
    const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, leaves, (warp + 31) % 32); /* what leaves the warp before */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, nothing && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++)
        store4_unsplit<reverse>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

extern "C" cudaError_t lookback_cluster(const struct linrec_args *args, cudaStream_t stream)
{
    struct cluster_shape shape;
    cudaError_t error = linrec_check_args(args, false);
    if (error == cudaSuccess)
        error = cluster_shape(args, CLUSTER_MAX_BLOCKS, &shape);
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
    void (*const kernel)(struct cut, const float *, const float *, float *) =
        args->reverse ? (shape.rows == 2 ? cluster_forward<2, 1> : cluster_forward<4, 1>)
                      : (shape.rows == 2 ? cluster_forward<2, 0> : cluster_forward<4, 0>);
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute blocks = {};
    blocks.id = cudaLaunchAttributeClusterDimension;
    blocks.val.clusterDim.x = shape.cut.seq_tiles;
    blocks.val.clusterDim.y = blocks.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(shape.cut.num_tiles);
    launch.blockDim = dim3(shape.threads);
    launch.stream = stream;
    launch.attrs = &blocks;
    launch.numAttrs = 1;
    cudaLaunchKernelEx(&launch, kernel, shape.cut, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
