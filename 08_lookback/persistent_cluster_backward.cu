/* SPDX-License-Identifier: MIT */
/* persistent_cluster_backward.cu - persistent_cluster.cu for the gradients, as chapter 06 has them: the coefficients
   move on by one element, and d_coeffs is d_inputs times the next output. The outputs are not needed before the carry
   is known, so they stay in shared memory until then, in stages of their own:

       round         t                  t + 1              t + 2
       registers     dy, c: scanned     .                  d_inputs = dy + carry * c: stored
       stage of y    y                  y                  d_coeffs = d_inputs * the next y: stored          */
/* The simulator builds it as written: its rounds are unrolled, and rows and stages in them. */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "../common/cuda/named_barrier.h"
#include "gradient_rows.cuh"
#include "lookback.h"
#include "persistent_cluster.cuh"
#include "tile_tma.cuh"

struct backward_work {
    struct tiling tiling;
    int num_warps;
    const float *d_outputs, *coeffs, *outputs;
    float *d_inputs, *d_coeffs;
    struct states states;
};

/* One thread asks TMA for a round's tile: dy and c into a stage of two tiles, y into one of PC_STAGES + PC_TILES. */
template <int from_end>
static __device__ __forceinline__ void request_tile(const struct backward_work *work, const struct tile *tile,
                                                    float *tiles, int round, uint64_t *arrived)
{
    const int s = round % PC_STAGES, y = PC_STAGES * 2 + round % (PC_STAGES + PC_TILES);
    float *const stage = tiles + (s * 2 + from_end) * work->tiling.tile_len; /* the tile's origin there */
    mbarrier_expect(&arrived[s], 3 * groups_bytes(tile));
    groups_tma_load<from_end>(work->d_outputs, tile, stage, &arrived[s]);
    groups_tma_load<from_end>(work->coeffs, tile, stage + work->tiling.tile_len, &arrived[s]);
    groups_tma_load<from_end>(work->outputs, tile, tiles + (y + from_end) * work->tiling.tile_len, &arrived[s]);
}

/* Block b computes tiles b, b + gridDim.x, ... of all arrays, (num_seqs, seq_len); `from_end`: the scan begins
   at the end, as after a forward pass. Shared memory: as above. */
template <int from_end>
static __global__ void __launch_bounds__(PC_MAX_THREADS + 64, 1)
    persistent_cluster_backward(struct backward_work work, struct workspace *space)
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
            request_tile<from_end>(&work, &tile, tiles, round, arrived);
    }
    cluster_arrive();
    cluster_wait(); /* all blocks have their barriers */
    if (warp == num_warps)
        publish_warp(cluster_tiles, space, rounds, lane);
    else if (warp > num_warps)
        look_back_warp(cluster_tiles, space, rounds, work.tiling.seq_tiles / PC_BLOCKS, &work.states, lane);
    if (warp >= num_warps)
        return;

    const int own = warp * PC_ROWS * PIPE_ROW + lane * 4;   /* of a tile */
    float x[PC_TILES][PC_ROWS][4], c[PC_TILES][PC_ROWS][4]; /* the tiles of the last rounds: dy and c */
    struct pair before_warp[PC_TILES];                      /* what the warps before this one do there */
    for (int begin = 0; begin < rounds + PC_TILES - 1; begin += PC_TILES)
#pragma unroll
        for (int i = 0; i < PC_TILES; i++) {
            const int round = begin + i;
            /* [scan] Take the tile of this round, scan it, and send its aggregate. */
            if (round < rounds) {
                const unsigned seq = to_scan.seq;
                const struct tile tile = tiles_next<from_end>(&to_scan, &work.tiling);
                const struct tile later = tiles_next<from_end>(&to_send, &work.tiling); /* goes into its stage */
                const int s = round % PC_STAGES;
                float *const stage = tiles + (s * 2 + from_end) * work.tiling.tile_len;
                struct warp_totals *const sums = &totals[round % 2];
                struct pair before[PC_ROWS];
                mbarrier_wait(&arrived[s], round / PC_STAGES % 2);
                rows_from_stage<PC_ROWS, from_end>(stage, work.d_outputs, &tile, own, 0.0f, x[i]);
                rows_from_stage<PC_ROWS, from_end>(stage + work.tiling.tile_len, work.coeffs, &tile, own, 1.0f, c[i]);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (tile.number_in_seq == 0 && own + j == tile.first)
                        enter_gradient(&work.states, seq, &x[i][0][j]);
                const struct pair warp_aggregate = rows_scan_shifted<PC_ROWS>(x[i], c[i], before, lane);
                if (lane == 31)
                    sums->product[warp] = warp_aggregate.product, sums->sum[warp] = warp_aggregate.sum;
                fence_proxy_async(); /* the tile was read before its stage is filled again */
                named_barrier_sync(1, num_warps * 32);
                if (warp == num_warps - 1 && lane == 0 && round + PC_STAGES < rounds)
                    request_tile<from_end>(&work, &later, tiles, round + PC_STAGES, arrived);
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
                const float initial_state = tile.is_last ? state_load(work.states.initial_state, seq) : 0.0f;
                const bool is_first = tile.number_in_seq == 0;                          /* nothing comes into it */
                const int s = PC_STAGES * 2 + done % (PC_STAGES + PC_TILES) + from_end; /* where its y lies */
                const int behind = (warp + 1) * PC_ROWS * PIPE_ROW; /* lane 0 loads this output for lane 31 */
                float y[PC_ROWS][4], y_behind = 0.0f;
                if (lane == 0 && behind < tile.last + !tile.is_last)
                    y_behind = work.outputs[tile.at + place<from_end>(behind, 1)];
                rows_from_stage<PC_ROWS, from_end>(tiles + s * work.tiling.tile_len, work.outputs, &tile, own, 0.0f, y);
                cluster_receive(&cluster_tiles[d].carry_arrived, done / PC_TILES % 2);
                const float carry = __uint_as_float((unsigned)cluster_tiles[d].carry);
                const struct pair before = before_warp[d];
                const float inclusive = is_first ? before.sum : carry * before.product + before.sum;
                const float into_warp = warp == 0 ? carry : inclusive; /* `inclusive` of the warps before it */
#pragma unroll
                for (int r = 0; r < PC_ROWS; r++) {
                    /* if the tile ends between two groups of the warp, the next output is the next tile's first */
                    if (!tile.is_last && own + r * PIPE_ROW == tile.last)
                        y[r][0] = work.outputs[tile.at + place<from_end>(tile.last, 1)];
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        if (!is_first || warp > 0)
                            x[d][r][j] = into_warp * c[d][r][j] + x[d][r][j];
                }
#pragma unroll
                for (int r = 0; r < PC_ROWS; r++) {
                    const int at = own + r * PIPE_ROW;
                    row_d_coeffs(&work.states, initial_state, tile_end(&tile) - at, x[d][r], y[r],
                                 r + 1 < PC_ROWS ? y[r + 1][0] : y_behind, lane);
                    store4_unsplit<from_end>(work.d_inputs + tile.at, at, tile.first, tile.last, x[d][r]);
                    store4_unsplit<from_end>(work.d_coeffs + tile.at, at, tile.first, tile.last, y[r]);
                }
            }
        }
}

extern "C" cudaError_t lookback_persistent_cluster_backward_on(const struct linrec_args *args,
                                                               const struct gpu_info *gpu, cudaStream_t stream)
{
    void (*const kernel)(struct backward_work, struct workspace *) =
        args->reverse ? persistent_cluster_backward<0>
                      : persistent_cluster_backward<1>; /* a forward pass's gradients are a reversed scan */
    struct persistent_cluster_launch launch;
    const cudaError_t error = persistent_cluster_prepare((const void *)kernel, args, true, gpu, stream, &launch);
    if (error != cudaSuccess)
        return error;
    if (launch.plan.tiling.num_tiles == 0)
        return linrec_finish_empty(args, true, stream);
    const struct backward_work work = {launch.plan.tiling, launch.plan.threads / 32, args->d_outputs, args->coeffs,
                                       args->outputs,      args->d_inputs,           args->d_coeffs,  states_of(args)};
    return cudaLaunchKernelEx(&launch.config, kernel, work, lookback_space(args));
}

extern "C" cudaError_t lookback_persistent_cluster_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_persistent_cluster_backward_on, args, stream);
}
