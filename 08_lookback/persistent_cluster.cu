/* persistent_cluster.cu - persistent.cu with the tiles in registers. The crew of a block, ten warps, reads each tile from shared memory
   once, scans it, and keeps it until its carry is known; meanwhile it scans the next two. Tiles go round as in waves,
   but 8 blocks are a cluster, and their tiles, side by side, are a unit, for which the first block tells and looks:

       tiles    | 0 1 ... 7 | 8 9 ... 15 | ... | B B+1 ...  |       B blocks are K = B / 8 clusters; the carry of unit K
       unit     |     0     |      1     | ... |     K      |       is that of unit 0, passed through the K units from
       cluster  |     0     |      1     | ... |     0      |       there on

       8 crews     scan turn 0 | scan 1 | scan 2, apply 0 | scan 3, apply 1 | ...
                      | what each tile does  ^ what comes into each: both from block to block (cluster_send)
       block 0       tell ---- ready ----> look
                      v                      ^ K units
       memory        a ring of words, of the last PERSISTENT_CLUSTER_RING turns: they stay in L2                                    */
#include <cuda_runtime.h>

#include "../common/cuda/cluster.h"
#include "../common/cuda/named_barrier.h"

#include "lookback.cuh"

/* What all parts need. */
struct forward_crew {
    struct cut cut;
    int num_warps;
    const float *inputs, *coeffs;
    float *outputs;
};

/* Block b computes tiles b, b + gridDim.x, ... of inputs, coeffs and outputs, (num_seqs, seq_len). Shared memory:
   PERSISTENT_CLUSTER_STAGES tiles of x and c. */
template <int reverse>
static __global__ void __launch_bounds__(PERSISTENT_CLUSTER_MAX_THREADS + 64, 1)
    persistent_cluster_forward(struct forward_crew work, struct workspace *space)
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
            tile_send<reverse>(&work.cut, work.inputs, work.coeffs, &tile, tiles + turn * 2 * work.cut.tile_len,
                               &arrived[turn]);
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
        c[PERSISTENT_CLUSTER_TILES][PERSISTENT_CLUSTER_ROWS][4]; /* the tiles of the last turns */
    struct pair before_warp[PERSISTENT_CLUSTER_TILES];           /* what the warps before this one do there */
    for (int begin = 0; begin < turns + PERSISTENT_CLUSTER_TILES - 1; begin += PERSISTENT_CLUSTER_TILES)
#pragma unroll
        for (int i = 0; i < PERSISTENT_CLUSTER_TILES; i++) {
            const int turn = begin + i;
            if (turn < turns) { /* take the tile of this turn, scan it and tell */
                const struct tile tile = turns_next<reverse>(&to_scan, &work.cut);
                const struct tile later = turns_next<reverse>(&to_send, &work.cut); /* goes into its stage */
                const int s = turn % PERSISTENT_CLUSTER_STAGES;
                float *const stage = tiles + s * 2 * work.cut.tile_len;
                float *const stage_x = stage + reverse * work.cut.tile_len; /* the tile's origin there */
                struct warp_totals *const sums = &totals[turn % 2];
                struct pair before[PERSISTENT_CLUSTER_ROWS];

                mbarrier_wait(&arrived[s], turn / PERSISTENT_CLUSTER_STAGES % 2);
                rows_take<PERSISTENT_CLUSTER_ROWS, reverse>(stage_x, work.inputs, &tile, own, 0.0f, x[i]);
                rows_take<PERSISTENT_CLUSTER_ROWS, reverse>(stage_x + work.cut.tile_len, work.coeffs, &tile, own, 1.0f,
                                                            c[i]);
#pragma unroll
                for (int j = 0; j < 4; j++) /* the sequence's first coefficient is not used */
                    if (tile.number_in_seq == 0 && own + j == tile.first)
                        c[i][0][j] = 1.0f;
                const struct pair whole_warp = rows_scan<PERSISTENT_CLUSTER_ROWS>(x[i], c[i], before, lane);
                if (lane == 31)
                    sums->product[warp] = whole_warp.product, sums->sum[warp] = whole_warp.sum;
                fence_proxy_async(); /* the tile was read before its stage is filled again */
                named_barrier_sync(1, num_warps * 32);
                if (warp == num_warps - 1 && lane == 0 && turn + PERSISTENT_CLUSTER_STAGES < turns)
                    tile_send<reverse>(&work.cut, work.inputs, work.coeffs, &later, stage, &arrived[s]);
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
                cluster_receive(&units[d].known, done / PERSISTENT_CLUSTER_TILES % 2);
                const float carry = __uint_as_float((unsigned)units[d].carry);
                const struct pair before = before_warp[d];
                const float leaves = nothing ? before.sum : carry * before.product + before.sum;
                const float into_warp = warp == 0 ? carry : leaves; /* what `leaves` the warps before it */
#pragma unroll
                for (int r = 0; r < PERSISTENT_CLUSTER_ROWS; r++) {
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        if (!nothing || warp > 0)
                            x[d][r][j] = into_warp * c[d][r][j] + x[d][r][j];
                    store4_unsplit<reverse>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[d][r]);
                }
            }
        }
}

extern "C" cudaError_t lookback_persistent_cluster(const struct linrec_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct forward_crew, struct workspace *) =
        args->reverse ? persistent_cluster_forward<1> : persistent_cluster_forward<0>;
    struct crew_launch launch;
    const cudaError_t error = crew_prepare((const void *)kernel, args, false, stream, &launch);
    if (error != cudaSuccess || launch.shape.cut.num_tiles == 0)
        return error;
    const struct forward_crew work = {launch.shape.cut, launch.shape.threads / 32, args->inputs, args->coeffs,
                                      args->outputs};
    cudaLaunchKernelEx(&launch.config, kernel, work, (struct workspace *)args->workspace);
    return cudaGetLastError();
}
