/* persistent_cluster_backward.cu - persistent_cluster.cu for the gradients, as chapter 06 has them: the coefficients move on by one element, and
   d_coeffs is d_inputs times the next output. The outputs are not needed before the carry is known, so they stay in
   shared memory until then, in stages of their own:

       turn          t                  t + 1              t + 2
       registers     dy, c: scanned     .                  d_inputs = dy + carry * c: stored
       stage of y    y                  y                  d_coeffs = d_inputs * the next y: stored          */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "../common/cuda/named_barrier.h"

#include "lookback.cuh"

struct backward_crew {
    struct cut cut;
    int num_warps;
    const float *d_outputs, *coeffs, *outputs;
    float *d_inputs, *d_coeffs;
};

/* One thread asks for a turn's tile: dy and c into a stage of two tiles, y into one of PERSISTENT_CLUSTER_STAGES + PERSISTENT_CLUSTER_TILES. */
template <int reverse>
static __device__ __forceinline__ void send(const struct backward_crew *work, const struct tile *tile, float *tiles,
                                            int turn, uint64_t *arrived)
{
    const int s = turn % PERSISTENT_CLUSTER_STAGES,
              y = PERSISTENT_CLUSTER_STAGES * 2 + turn % (PERSISTENT_CLUSTER_STAGES + PERSISTENT_CLUSTER_TILES);
    float *const stage = tiles + (s * 2 + reverse) * work->cut.tile_len; /* the tile's origin there */
    mbarrier_expect(&arrived[s], 3 * groups_bytes(tile));
    groups_send<reverse>(work->d_outputs, tile, stage, &arrived[s]);
    groups_send<reverse>(work->coeffs, tile, stage + work->cut.tile_len, &arrived[s]);
    groups_send<reverse>(work->outputs, tile, tiles + (y + reverse) * work->cut.tile_len, &arrived[s]);
}

/* Block b computes tiles b, b + gridDim.x, ... of all arrays, (num_seqs, seq_len); `reverse` is the direction of this
   scan, against that of the pass. Shared memory: as above. */
template <int reverse>
static __global__ void __launch_bounds__(PERSISTENT_CLUSTER_MAX_THREADS + 64, 1)
    persistent_cluster_backward(struct backward_crew work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ uint64_t arrived[PERSISTENT_CLUSTER_STAGES];
    __shared__ struct warp_totals totals[2]; /* [0]: of the tiles of even turns, [1]: of odd ones */
    __shared__ struct unit units[PERSISTENT_CLUSTER_TILES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = work.num_warps;
    const int turns = (int)((work.cut.num_tiles - 1 - blockIdx.x) / gridDim.x) + 1;
    struct turns to_send = turns_begin(&work.cut), to_scan = to_send, to_apply = to_send;

    if (threadIdx.x == 0)
        units_init(units, arrived);
    for (int turn = 0; turn < PERSISTENT_CLUSTER_STAGES && turn < turns; turn++) {
        const struct tile tile = turns_next<reverse>(&to_send, &work.cut);
        if (threadIdx.x == 0)
            send<reverse>(&work, &tile, tiles, turn, arrived);
    }
    cluster_arrive();
    cluster_wait(); /* all blocks have their barriers */
    if (warp == num_warps)
        crew_tell(units, space, turns, lane);
    else if (warp > num_warps)
        crew_look(units, space, turns, work.cut.seq_tiles / PERSISTENT_CLUSTER_BLOCKS, lane);
    if (warp >= num_warps)
        return;

    const int own = warp * PERSISTENT_CLUSTER_ROWS * PIPE_ROW + lane * 4; /* of a tile */
    float x[PERSISTENT_CLUSTER_TILES][PERSISTENT_CLUSTER_ROWS][4],
        c[PERSISTENT_CLUSTER_TILES][PERSISTENT_CLUSTER_ROWS][4]; /* the tiles of the last turns: dy and c */
    struct pair before_warp[PERSISTENT_CLUSTER_TILES];           /* what the warps before this one do there */
    for (int begin = 0; begin < turns + PERSISTENT_CLUSTER_TILES - 1; begin += PERSISTENT_CLUSTER_TILES)
#pragma unroll
        for (int i = 0; i < PERSISTENT_CLUSTER_TILES; i++) {
            const int turn = begin + i;
            if (turn < turns) { /* take the tile of this turn, scan it and tell */
                const struct tile tile = turns_next<reverse>(&to_scan, &work.cut);
                const struct tile later = turns_next<reverse>(&to_send, &work.cut); /* goes into its stage */
                const int s = turn % PERSISTENT_CLUSTER_STAGES;
                float *const stage = tiles + (s * 2 + reverse) * work.cut.tile_len;
                struct warp_totals *const sums = &totals[turn % 2];
                struct pair before[PERSISTENT_CLUSTER_ROWS];
                mbarrier_wait(&arrived[s], turn / PERSISTENT_CLUSTER_STAGES % 2);
                rows_take<PERSISTENT_CLUSTER_ROWS, reverse>(stage, work.d_outputs, &tile, own, 0.0f, x[i]);
                rows_take<PERSISTENT_CLUSTER_ROWS, reverse>(stage + work.cut.tile_len, work.coeffs, &tile, own, 1.0f,
                                                            c[i]);
                const struct pair whole_warp = rows_scan_shifted<PERSISTENT_CLUSTER_ROWS>(x[i], c[i], before, lane);
                if (lane == 31)
                    sums->product[warp] = whole_warp.product, sums->sum[warp] = whole_warp.sum;
                fence_proxy_async(); /* the tile was read before its stage is filled again */
                named_barrier_sync(1, num_warps * 32);
                if (warp == num_warps - 1 && lane == 0 && turn + PERSISTENT_CLUSTER_STAGES < turns)
                    send<reverse>(&work, &later, tiles, turn + PERSISTENT_CLUSTER_STAGES, arrived);
                const struct pair up_to_warp = totals_scan(sums, num_warps, lane);
                const struct pair whole = pair_shfl(up_to_warp, num_warps - 1);
                if (threadIdx.x == 0)
                    tile_tell(&units[i], whole);
                before_warp[i] = pair_shfl(up_to_warp, (warp + 31) % 32); /* warp 0 does not use it */
                rows_settle<PERSISTENT_CLUSTER_ROWS>(x[i], c[i], before, lane);
            }
            const int done = turn - (PERSISTENT_CLUSTER_TILES - 1),
                      d = (i + 1) % PERSISTENT_CLUSTER_TILES; /* the oldest tile's turn and place */
            if (done >= 0 && done < turns) {                  /* apply its carry */
                const struct tile tile = turns_next<reverse>(&to_apply, &work.cut);
                const bool nothing = tile.number_in_seq == 0; /* comes into the tile */
                const int s = PERSISTENT_CLUSTER_STAGES * 2 +
                              done % (PERSISTENT_CLUSTER_STAGES + PERSISTENT_CLUSTER_TILES) +
                              reverse; /* where its y lies */
                const int behind =
                    (warp + 1) * PERSISTENT_CLUSTER_ROWS * PIPE_ROW; /* lane 0 loads this output for lane 31 */
                float y[PERSISTENT_CLUSTER_ROWS][4], y_behind = 0.0f;
                if (lane == 0 && behind < tile.last + !tile.is_last)
                    y_behind = work.outputs[tile.at + place<reverse>(behind, 1)];
                rows_take<PERSISTENT_CLUSTER_ROWS, reverse>(tiles + s * work.cut.tile_len, work.outputs, &tile, own,
                                                            0.0f, y);
                cluster_receive(&units[d].known, done / PERSISTENT_CLUSTER_TILES % 2);
                const float carry = __uint_as_float((unsigned)units[d].carry);
                const struct pair before = before_warp[d];
                const float leaves = nothing ? before.sum : carry * before.product + before.sum;
                const float into_warp = warp == 0 ? carry : leaves; /* what `leaves` the warps before it */
#pragma unroll
                for (int r = 0; r < PERSISTENT_CLUSTER_ROWS; r++) {
                    /* if the tile ends between two groups of the warp, the next output is the next tile's first */
                    if (!tile.is_last && own + r * PIPE_ROW == tile.last)
                        y[r][0] = work.outputs[tile.at + place<reverse>(tile.last, 1)];
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        if (!nothing || warp > 0)
                            x[d][r][j] = into_warp * c[d][r][j] + x[d][r][j];
                }
#pragma unroll
                for (int r = 0; r < PERSISTENT_CLUSTER_ROWS; r++) {
                    const int at = own + r * PIPE_ROW;
                    const float next_row = r + 1 < PERSISTENT_CLUSTER_ROWS ? y[r + 1][0] : y_behind;
                    const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[r][0], (lane + 1) % 32);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        y[r][j] = tile.is_last && at + j == tile.last - 1 ? 0.0f /* no output follows */
                                                                          : (j < 3 ? y[r][j + 1] : y_next) * x[d][r][j];
                    store4_unsplit<reverse>(work.d_inputs + tile.at, at, tile.first, tile.last, x[d][r]);
                    store4_unsplit<reverse>(work.d_coeffs + tile.at, at, tile.first, tile.last, y[r]);
                }
            }
        }
}

extern "C" cudaError_t lookback_persistent_cluster_backward(const struct linrec_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct backward_crew, struct workspace *) =
        args->reverse ? persistent_cluster_backward<0>
                      : persistent_cluster_backward<1>; /* a forward pass's gradients are a reversed scan */
    struct crew_launch launch;
    const cudaError_t error = crew_prepare((const void *)kernel, args, true, stream, &launch);
    if (error != cudaSuccess || launch.shape.cut.num_tiles == 0)
        return error;
    const struct backward_crew work = {
        launch.shape.cut, launch.shape.threads / 32, args->d_outputs, args->coeffs, args->outputs, args->d_inputs,
        args->d_coeffs};
    cudaLaunchKernelEx(&launch.config, kernel, work, (struct workspace *)args->workspace);
    return cudaGetLastError();
}
