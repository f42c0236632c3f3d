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

/* What the warps of a block share. */
struct crew {
    uint64_t arrived[WAVES_MAX_STAGES];
    uint64_t told[2], known[2]; /* of the tiles of even and odd turns: the total is told, the carry is known */
    struct warp_totals totals[2];
    float carry[2];
};

/* A warp takes its part of the block's tile number `turn` and scans it. Afterwards x is the sum since the warp's first
   element, c the product. Returns what the warps before it do. */
template <int rows, int reverse>
static __device__ __forceinline__ struct pair crew_take(const struct crew_work *work, struct crew *crew, float *tiles,
                                                        struct workspace *space, unsigned turn, float (*x)[4],
                                                        float (*c)[4])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = warp * rows * PIPE_ROW + lane * 4;
    const unsigned number = turn * gridDim.x + blockIdx.x, next = number + work->num_stages * gridDim.x;
    const struct tile tile = tile_number<reverse>(number, &work->cut);
    uint64_t *const arrived = &crew->arrived[turn % work->num_stages];
    float *const stage = tiles + turn % work->num_stages * 2 * work->cut.tile_len;
    float *const stage_x = stage + reverse * work->cut.tile_len; /* the tile's origin there */
    struct warp_totals *const totals = &crew->totals[turn % 2];
    struct pair before[rows];

    mbarrier_wait(arrived, turn / work->num_stages % 2);
    rows_take<rows, reverse>(stage_x, work->inputs, &tile, own, 0.0f, x);
    rows_take<rows, reverse>(stage_x + work->cut.tile_len, work->coeffs, &tile, own, 1.0f, c);
#pragma unroll
    for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
        if (tile.number_in_seq == 0 && own + i == tile.first)
            c[0][i] = 1.0f;
    const struct pair whole_warp = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals->product[warp] = whole_warp.product, totals->sum[warp] = whole_warp.sum;
    copy_engine_fence(); /* the tile was read before its stage is filled again */
    named_barrier_sync(1, work->num_warps * 32);
    if (warp == work->num_warps - 1 && lane == 0 && next < work->cut.num_tiles)
        tile_send<reverse>(&work->cut, work->inputs, work->coeffs, next, stage, arrived);

    const struct pair up_to_warp = totals_scan(totals, work->num_warps, lane);
    const struct pair whole = pair_shfl(up_to_warp, work->num_warps - 1);
    if (threadIdx.x == 0) {
        ring_write(space, number, whole);
        mbarrier_arrive(&crew->told[turn % 2]);
    }
    rows_settle<rows>(x, c, before, lane);
    const struct pair nothing = {1.0f, 0.0f}, before_warp = pair_shfl(up_to_warp, (warp + 31) % 32);
    return warp == 0 ? nothing : before_warp;
}

/* Adds the carry to what crew_take has left, and stores it. */
template <int rows, int reverse>
static __device__ __forceinline__ void crew_apply(const struct crew_work *work, struct crew *crew, unsigned turn,
                                                  struct pair before_warp, float (*x)[4], float (*c)[4])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = warp * rows * PIPE_ROW + lane * 4;
    const struct tile tile = tile_number<reverse>(turn * gridDim.x + blockIdx.x, &work->cut);
    const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

    mbarrier_wait(&crew->known[turn % 2], turn / 2 % 2);
    const float carry = crew->carry[turn % 2];
    const float into = nothing ? before_warp.sum : carry * before_warp.product + before_warp.sum;
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (!nothing || warp > 0)
                x[r][i] = into * c[r][i] + x[r][i];
        store4_unsplit<reverse>(work->outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
    }
}

/* Block b computes tiles b, b + gridDim.x, ... of inputs, coeffs and outputs, (num_seqs, seq_len). Shared memory:
   num_stages tiles of x and c. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(CREW_MAX_THREADS + 32, 1)
    crews_forward(struct crew_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ struct crew crew;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned turns = (work.cut.num_tiles - 1 - blockIdx.x) / gridDim.x + 1;

    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < work.num_stages; s++)
            mbarrier_init(&crew.arrived[s], 1);
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&crew.told[i], 1);
            mbarrier_init(&crew.known[i], 1);
        }
        mbarrier_init_done();
        for (unsigned turn = 0; turn < work.num_stages && turn < turns; turn++)
            tile_send<reverse>(&work.cut, work.inputs, work.coeffs, turn * gridDim.x + blockIdx.x,
                               tiles + turn * 2 * work.cut.tile_len, &crew.arrived[turn]);
    }
    __syncthreads();
    if (warp < work.num_warps) {
        float x[2][rows][4], c[2][rows][4]; /* the tiles of even and odd turns */
        struct pair before_warp[2];
        for (unsigned begin = 0; begin <= turns; begin += 2)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const unsigned turn = begin + i;
                if (turn < turns)
                    before_warp[i] = crew_take<rows, reverse>(&work, &crew, tiles, space, turn, x[i], c[i]);
                if (turn > 0 && turn <= turns)
                    crew_apply<rows, reverse>(&work, &crew, turn - 1, before_warp[1 - i], x[1 - i], c[1 - i]);
            }
    } else {
        float carry = 0.0f;
        for (unsigned turn = 0; turn < turns; turn++) {
            const unsigned number = turn * gridDim.x + blockIdx.x, in_seq = number % work.cut.seq_tiles;
            mbarrier_wait(&crew.told[turn % 2], turn / 2 % 2);
            const struct pair since = ring_join(space, number, in_seq < gridDim.x ? in_seq : gridDim.x, lane);
            carry = in_seq > gridDim.x ? carry * since.product + since.sum : since.sum;
            if (lane == 0) {
                crew.carry[turn % 2] = carry;
                mbarrier_arrive(&crew.known[turn % 2]);
            }
        }
        const unsigned ring = CREW_RING * gridDim.x;
        leave_workspace(space, 2 * (work.cut.num_tiles < ring ? work.cut.num_tiles : ring), lane);
    }
}

extern "C" cudaError_t lookback_crews(const struct linrec_args *args, cudaStream_t stream)
{
    struct waves_shape shape;
    cudaError_t error = waves_shape(args, 4, CREW_MAX_THREADS, 2, &shape);
    if (error == cudaSuccess)
        error = lookback_check(args, false, &shape.cut);
    if (error == cudaSuccess && args->workspace_size < lookback_workspace(args))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
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
