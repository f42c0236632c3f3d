/* SPDX-License-Identifier: MIT */
/* persistent_cluster.cu - persistent blocks: they stay on the chip and take tile after tile, in rounds, so that a tile
   can wait for its carry while its block goes on. With B blocks, block b takes tiles b, b + B, b + 2B, ... The carry of
   a tile is the carry of the block's previous tile, passed through the aggregates of the B tiles since then. No
   aggregate waits for another block, so there is no chain, and all joins have one order.

   Eight blocks are a cluster. Their eight tiles of a round, side by side, are a cluster tile, and its first block
   publishes and looks back for all of them. With K = B / 8 clusters:

       tiles           | 0 1 ... 7 | 8 9 ... 15 | ... | B B+1 ... |      carry of cluster tile K: that of
       cluster tile    |     0     |      1     | ... |     K     |      cluster tile 0, passed through 0 to K - 1
       cluster         |     0     |      1     | ... |     0     |

   The warps of a block are specialized. Up to ten compute: they read each tile from shared memory, where TMA has
   brought it, scan it, and keep it in registers for two rounds more. Two others, of the first block, look for the
   carries:

       TMA               tile 1       tile 2       tile 3             tile 4
       compute warps     scan tile 0  scan tile 1  scan 2, store 0    scan 3, store 1    ...
                            | aggregate               ^ carry: both from block to block (cluster_send)
       first block       publish --> look back -------+
                            v            ^ K aggregates
       global memory     a ring of cluster descriptors, of the last PC_RING rounds                                   */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "../common/cuda/named_barrier.h"
#include "lookback.h"
#include "persistent_cluster.cuh"
#include "tile_tma.cuh"
#include "warp_rows.cuh"

/* What all warps need. */
struct forward_work {
    struct tiling tiling;
    int num_warps;
    const float *inputs, *coeffs;
    float *outputs;
    struct states states;
};

/* One thread asks TMA for a tile, its x and c, into a stage of two tiles. */
template <int from_end>
static __device__ __forceinline__ void request_tile(const struct forward_work *work, const struct tile *tile,
                                                    float *stage, uint64_t *arrived)
{
    float *const stage_x = stage + from_end * work->tiling.tile_len; /* the tile's origin there */
    mbarrier_expect(arrived, 2 * groups_bytes(tile));
    groups_tma_load<from_end>(work->inputs, tile, stage_x, arrived);
    groups_tma_load<from_end>(work->coeffs, tile, stage_x + work->tiling.tile_len, arrived);
}

/* Block b computes tiles b, b + gridDim.x, ... of inputs, coeffs and outputs, (num_seqs, seq_len). Shared memory:
   PC_STAGES tiles of x and c. */
template <int from_end>
static __global__ void __launch_bounds__(PC_MAX_THREADS + 64, 1)
    persistent_cluster_forward(struct forward_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ uint64_t arrived[PC_STAGES];
    __shared__ struct warp_totals totals[2]; /* [0]: of the tiles of even rounds, [1]: of odd ones */
    __shared__ struct cluster_tile cluster_tiles[PC_TILES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = work.num_warps;
    const int rounds = (int)((work.tiling.num_tiles - 1 - blockIdx.x) / gridDim.x) + 1;
    struct tile_iterator to_send = tiles_begin(&work.tiling), to_scan = to_send, to_apply = to_send;

    if (threadIdx.x == 0)
        cluster_tiles_init(cluster_tiles, arrived);
    for (int round = 0; round < PC_STAGES && round < rounds; round++) {
        const struct tile tile = tiles_next<from_end>(&to_send, &work.tiling);
        if (threadIdx.x == 0)
            request_tile<from_end>(&work, &tile, tiles + round * 2 * work.tiling.tile_len, &arrived[round]);
    }
    cluster_arrive();
    cluster_wait(); /* all blocks have their barriers */
    if (warp == num_warps)
        publish_warp(cluster_tiles, space, rounds, lane);
    else if (warp > num_warps)
        look_back_warp(cluster_tiles, space, rounds, work.tiling.seq_tiles / PC_BLOCKS, NULL, lane);
    if (warp >= num_warps)
        return;

    const int own = warp * PC_ROWS * PIPE_ROW + lane * 4;   /* of a tile */
    float x[PC_TILES][PC_ROWS][4], c[PC_TILES][PC_ROWS][4]; /* the tiles of the last rounds */
    struct pair before_warp[PC_TILES];                      /* what the warps before this one do there */
    for (int begin = 0; begin < rounds + PC_TILES - 1; begin += PC_TILES)
#pragma unroll
        for (int i = 0; i < PC_TILES; i++) {
            const int round = begin + i;
            /* [scan] Take the tile of this round, scan it, and send its aggregate. */
            if (round < rounds) {
                const unsigned seq = to_scan.seq;
                const struct tile tile = tiles_next<from_end>(&to_scan, &work.tiling);
                const float state = tile.number_in_seq == 0 ? state_load(work.states.initial_state, seq) : 0.0f;
                const struct tile later = tiles_next<from_end>(&to_send, &work.tiling); /* goes into its stage */
                const int s = round % PC_STAGES;
                float *const stage = tiles + s * 2 * work.tiling.tile_len;
                float *const stage_x = stage + from_end * work.tiling.tile_len; /* the tile's origin there */
                struct warp_totals *const sums = &totals[round % 2];
                struct pair before[PC_ROWS];

                mbarrier_wait(&arrived[s], round / PC_STAGES % 2);
                rows_from_stage<PC_ROWS, from_end>(stage_x, work.inputs, &tile, own, 0.0f, x[i]);
                rows_from_stage<PC_ROWS, from_end>(stage_x + work.tiling.tile_len, work.coeffs, &tile, own, 1.0f, c[i]);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (tile.number_in_seq == 0 && own + j == tile.first)
                        enter_state(&work.states, state, &x[i][0][j], &c[i][0][j]);
                const struct pair warp_aggregate = rows_scan<PC_ROWS>(x[i], c[i], before, lane);
                if (lane == 31)
                    sums->product[warp] = warp_aggregate.product, sums->sum[warp] = warp_aggregate.sum;
                fence_proxy_async(); /* the tile was read before its stage is filled again */
                named_barrier_sync(1, num_warps * 32);
                if (warp == num_warps - 1 && lane == 0 && round + PC_STAGES < rounds)
                    request_tile<from_end>(&work, &later, stage, &arrived[s]);
                const struct pair up_to_warp = totals_scan(sums, num_warps, lane);
                const struct pair aggregate = pair_shfl(up_to_warp, num_warps - 1);
                if (threadIdx.x == 0)
                    send_aggregate(&cluster_tiles[i], aggregate);
                before_warp[i] = pair_shfl(up_to_warp, (warp + 31) % 32); /* warp 0 does not use it */
                rows_settle<PC_ROWS>(x[i], c[i], before, lane);
            }
            /* [carry] Add the carry of the oldest tile, and store it. */
            const int done = round - (PC_TILES - 1); /* its round */
            const int d = (i + 1) % PC_TILES;        /* and where it is */
            if (done >= 0 && done < rounds) {
                const unsigned seq = to_apply.seq;
                const struct tile tile = tiles_next<from_end>(&to_apply, &work.tiling);
                const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
                cluster_receive(&cluster_tiles[d].carry_arrived, done / PC_TILES % 2);
                const float carry = __uint_as_float((unsigned)cluster_tiles[d].carry);
                const struct pair before = before_warp[d];
                const float inclusive = is_first ? before.sum : carry * before.product + before.sum;
                const float into_warp = warp == 0 ? carry : inclusive; /* `inclusive` of the warps before it */
#pragma unroll
                for (int r = 0; r < PC_ROWS; r++) {
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        if (!is_first || warp > 0)
                            x[d][r][j] = into_warp * c[d][r][j] + x[d][r][j];
                    store4_unsplit<from_end>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last,
                                             x[d][r]);
                }
                leave_state<PC_ROWS>(&work.states, tile_end(&tile), own, x[d], seq);
            }
        }
}

extern "C" cudaError_t lookback_persistent_cluster_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                                      cudaStream_t stream)
{
    void (*const kernel)(struct forward_work, struct workspace *) =
        args->reverse ? persistent_cluster_forward<1> : persistent_cluster_forward<0>;
    struct persistent_cluster_launch launch;
    const cudaError_t error = persistent_cluster_prepare((const void *)kernel, args, false, gpu, stream, &launch);
    if (error != cudaSuccess)
        return error;
    if (launch.plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, false, stream);
    const struct forward_work work = {launch.plan.tiling, launch.plan.threads / 32, args->inputs, args->coeffs,
                                      args->outputs,      states_of(args)};
    return cudaLaunchKernelEx(&launch.config, kernel, work, lookback_space(args));
}

extern "C" cudaError_t lookback_persistent_cluster(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_persistent_cluster_on, args, stream);
}
