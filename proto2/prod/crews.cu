/* crews.cu - waves with the tiles in registers: the crew of a block reads each tile from shared memory once, scans it,
   and keeps it until its carry is known. Meanwhile it scans its next tile. Tiles and carries go round as in waves.cu:

       tiles    | 0  1  2 ... B-1 |  B  B+1 ... 2B-1 | 2B  ...
       block    | 0  1  2 ... B-1 |  0   1  ...  B-1 |  0  ...
                       ^------- B words -------^         the carry of tile 2, passed through 2 ... B+1, is that of B+2

       crew     scan B+2, tell | apply 2 | scan 2B+2, tell   | apply B+2 | scan 3B+2, tell | ...
       look                    | B words, the carry of B+2 --^ | ...

   The words of a round lie where those of CREW_RING rounds before lay, so they stay in L2. */
#include <cuda_runtime.h>

#include <named_barrier.h>

#include "lookback.cuh"

/* What all parts need. */
struct crew_work {
    struct cut cut;
    unsigned num_stages;
    int num_warps;
    const float *inputs, *coeffs;
    float *outputs;
};

/* Block b computes tiles b, b + gridDim.x, ... of inputs, coeffs and outputs, (num_seqs, seq_len). Shared memory:
   num_stages tiles of x and c. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(CREW_MAX_THREADS + 32, 1)
    crews_forward(struct crew_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ uint64_t arrived[WAVES_MAX_STAGES], told[2], known[2];
    __shared__ struct warp_totals totals[2];
    __shared__ float carries[2]; /* [0]: of the tiles of even turns, [1]: of odd ones */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = work.num_warps;
    const unsigned turns = (work.cut.num_tiles - 1 - blockIdx.x) / gridDim.x + 1;

    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < work.num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&told[i], 1);
            mbarrier_init(&known[i], 1);
        }
        mbarrier_init_done();
        for (unsigned turn = 0; turn < work.num_stages && turn < turns; turn++)
            tile_send<reverse>(&work.cut, work.inputs, work.coeffs, turn * gridDim.x + blockIdx.x,
                               tiles + turn * 2 * work.cut.tile_len, &arrived[turn]);
    }
    __syncthreads();
    if (warp == num_warps) { /* look */
        float carry = 0.0f;
        for (unsigned turn = 0; turn < turns; turn++) {
            const unsigned number = turn * gridDim.x + blockIdx.x, in_seq = number % work.cut.seq_tiles;
            mbarrier_wait(&told[turn % 2], turn / 2 % 2);
            const struct pair since = ring_join(space, number, in_seq < gridDim.x ? in_seq : gridDim.x, lane);
            carry = in_seq > gridDim.x ? carry * since.product + since.sum : since.sum;
            if (lane == 0) {
                carries[turn % 2] = carry;
                mbarrier_arrive(&known[turn % 2]);
            }
        }
        const unsigned ring = CREW_RING * gridDim.x;
        leave_workspace(space, 2 * (work.cut.num_tiles < ring ? work.cut.num_tiles : ring), lane);
        return;
    }

    const int own = warp * rows * PIPE_ROW + lane * 4; /* of a tile */
    float x[2][rows][4], c[2][rows][4];                /* the tiles of even and of odd turns */
    struct pair before_warp[2];                        /* what the warps before this one do there */
    for (unsigned begin = 0; begin <= turns; begin += 2)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned turn = begin + i, number = turn * gridDim.x + blockIdx.x;
            if (turn < turns) { /* take the tile of this turn, scan it and tell */
                const struct tile tile = tile_number<reverse>(number, &work.cut);
                const unsigned s = turn % work.num_stages, next = number + work.num_stages * gridDim.x;
                float *const stage = tiles + s * 2 * work.cut.tile_len;
                float *const stage_x = stage + reverse * work.cut.tile_len; /* the tile's origin there */
                struct pair before[rows];
                mbarrier_wait(&arrived[s], turn / work.num_stages % 2);
                rows_take<rows, reverse>(stage_x, work.inputs, &tile, own, 0.0f, x[i]);
                rows_take<rows, reverse>(stage_x + work.cut.tile_len, work.coeffs, &tile, own, 1.0f, c[i]);
#pragma unroll
                for (int j = 0; j < 4; j++) /* the sequence's first coefficient is not used */
                    if (tile.number_in_seq == 0 && own + j == tile.first)
                        c[i][0][j] = 1.0f;
                const struct pair whole_warp = rows_scan<rows>(x[i], c[i], before, lane);
                if (lane == 31)
                    totals[i].product[warp] = whole_warp.product, totals[i].sum[warp] = whole_warp.sum;
                copy_engine_fence(); /* the tile was read before its stage is filled again */
                named_barrier_sync(1, num_warps * 32);
                if (warp == num_warps - 1 && lane == 0 && next < work.cut.num_tiles)
                    tile_send<reverse>(&work.cut, work.inputs, work.coeffs, next, stage, &arrived[s]);
                const struct pair up_to_warp = totals_scan(&totals[i], num_warps, lane);
                before_warp[i] = pair_shfl(up_to_warp, (warp + 31) % 32);
                const struct pair whole = pair_shfl(up_to_warp, num_warps - 1);
                if (threadIdx.x == 0) {
                    ring_write(space, number, whole);
                    mbarrier_arrive(&told[i]);
                }
                rows_settle<rows>(x[i], c[i], before, lane);
            }
            if (turn > 0 && turn <= turns) { /* apply the carry to the tile of the last turn */
                const struct tile tile = tile_number<reverse>(number - gridDim.x, &work.cut);
                mbarrier_wait(&known[1 - i], (turn - 1) / 2 % 2);
                const struct pair before = before_warp[1 - i];
                const float carry = carries[1 - i];
                const bool nothing = tile.number_in_seq == 0; /* comes into the tile */
                const float leaves = nothing ? before.sum : carry * before.product + before.sum;
                const float into_warp = warp == 0 ? carry : leaves;
#pragma unroll
                for (int r = 0; r < rows; r++) {
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        if (!nothing || warp > 0)
                            x[1 - i][r][j] = into_warp * c[1 - i][r][j] + x[1 - i][r][j];
                    store4_unsplit<reverse>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last,
                                            x[1 - i][r]);
                }
            }
        }
}

extern "C" cudaError_t lookback_crews(const struct linrec_args *args, cudaStream_t stream)
{
    struct waves_shape shape;
    cudaError_t error = waves_shape(args, 4, CREW_MAX_THREADS, 2, &shape);
    if (error == cudaSuccess)
        error = lookback_check(args, false, &shape.cut);
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
    if (args->workspace_size < lookback_crews_workspace(args))
        return cudaErrorInvalidValue;
    void (*const kernel)(struct crew_work, struct workspace *) =
        args->reverse ? (shape.rows == 2 ? crews_forward<2, 1> : crews_forward<4, 1>)
                      : (shape.rows == 2 ? crews_forward<2, 0> : crews_forward<4, 0>);
    const struct crew_work work = {shape.cut,    (unsigned)shape.stages, shape.threads / 32,
                                   args->inputs, args->coeffs,           args->outputs};
    error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.most_shared);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, shape.threads + 32, shape.shared, stream>>>(work, (struct workspace *)args->workspace);
    return cudaGetLastError();
}
