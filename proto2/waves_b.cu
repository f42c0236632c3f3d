/* waves.cu - the blocks stay, one on each multiprocessor, and tiles wait in shared memory while a warp looks at other
   blocks' words. With B blocks, block b takes tiles b, b + B, b + 2B, ... The carry of a tile is the carry of the
   block's previous tile, passed through the B words since then: all of them totals, which wait for no other block.

       tiles    | 0  1  2 ... B-1 |  B  B+1 ... 2B-1 | 2B  ...
       block    | 0  1  2 ... B-1 |  0   1  ...  B-1 |  0  ...
                       ^------- B words -------^         the carry of tile 2, passed through 2 ... B+1, is that of B+2

   Warps have parts. A tile passes through them in its stage, and four barriers of each stage tell how far it is:

       send ---arrived---> sum ---summed---> tell
       asks the copy       what the tile     publishes it
       engine              does       |
         ^                            +----> look ---known---> apply ---free---> send
         |                                   reads B words     scans the tile,
         +--- as soon as the stage is free                     stores y               */
#include <cuda_runtime.h>

#include "../08_lookback/lookback.cuh"

#ifndef BULKST
#define BULKST 1
#endif
#ifndef NOLOOK
#define NOLOOK 0
#endif
#ifndef LATER
#define LATER 1
#endif
static __device__ __forceinline__ void wait_later(struct stage *stages, int num_stages, unsigned turn,
                                                      unsigned last_turn)
{
    const int room = num_stages > 2 ? num_stages - 2 : 0; /* stages but for this tile's and the previous one's */
    unsigned later = turn + (unsigned)(room < LATER ? room : (int)LATER);
    later = later < last_turn ? later : last_turn;
    mbarrier_wait(&stages[later % num_stages].summed, later / num_stages % 2);
}
static __device__ __forceinline__ void bulk_store(float *global, const float *shared, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
                 "r"(shared_address(shared)), "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void bulk_read_but_one(void)
{
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
static __device__ __forceinline__ void bulk_read_all(void)
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

#ifndef RING
#define RING 0
#endif
#define EACH 5
#if RING
/* (product, turn + 1), (sum, turn + 1) */
static __device__ __forceinline__ unsigned long long *ring_at(struct workspace *space, unsigned turn, unsigned cluster,
                                                              unsigned K)
{
    return &space->words[1 + 2 * ((turn % RING) * K + cluster) + 0];
}
static __device__ __forceinline__ struct pair ring_join(struct workspace *space, unsigned unit, unsigned count,
                                                        unsigned K, int lane)
{
    const unsigned each = (count + 31) / 32, begin = lane * each;
    unsigned long long product[EACH], sum[EACH];
    unsigned tag[EACH];
    unsigned long long *at[EACH];
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const bool has = i < each && begin + i < count;
        const unsigned v = unit - count + begin + i;
        at[i] = ring_at(space, v / K, v % K, K), tag[i] = v / K + 1;
        product[i] = has ? word_read(at[i]) : (unsigned long long)tag[i] << 32 | 0x3F800000u;
        sum[i] = has ? word_read(at[i] + 1) : (unsigned long long)tag[i] << 32;
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        while ((unsigned)(product[i] >> 32) != tag[i] || (unsigned)(sum[i] >> 32) != tag[i])
            product[i] = word_read(at[i]), sum[i] = word_read(at[i] + 1);
    struct pair mine = {__uint_as_float((unsigned)product[0]), __uint_as_float((unsigned)sum[0])};
#pragma unroll
    for (unsigned i = 1; i < EACH; i++)
        mine = pair_join(mine, (struct pair){__uint_as_float((unsigned)product[i]), __uint_as_float((unsigned)sum[i])});
    return pair_shfl(warp_scan(mine, lane), 31);
}
#endif

/* What all parts need. */
struct forward_work {
    struct cut cut;
    int num_stages, num_warps;
    const float *inputs, *coeffs;
    float *outputs;
};

/* Block b computes tiles b, b + gridDim.x, ... of inputs, coeffs and outputs, (num_seqs, seq_len). Shared memory:
   num_stages tiles of x and c. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(2 * WAVES_MAX_THREADS + NUM_SINGLES * 32, 1)
    waves_forward_b(struct forward_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ struct stage stages[WAVES_MAX_STAGES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = work.num_warps;
    const int single = warp - 2 * num_warps, row_warp = warp % num_warps, tile_len = work.cut.tile_len;
    const int own = row_warp * rows * PIPE_ROW + lane * 4; /* of a tile, for the warps of sum and apply */
    float x[rows][4], c[rows][4];
    struct pair before[rows];

    stages_init(stages, work.num_stages, num_warps);
    for (unsigned number = blockIdx.x, turn = 0; number < work.cut.num_tiles; number += gridDim.x, turn++) {
        struct stage *const stage = &stages[turn % work.num_stages];
        float *const stage_x = tiles + (turn % work.num_stages * 2 + reverse) * tile_len; /* the tile's origin there */
        float *const stage_c = stage_x + tile_len;
        const unsigned parity = turn / work.num_stages % 2;
        const struct tile tile = tile_number<reverse>(number, &work.cut);
        const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

        if (single == SEND && lane == 0) { /* send; nobody waits for the first round's stages */
            mbarrier_wait(&stage->free, parity ^ 1);
            mbarrier_expect(&stage->arrived, 2 * groups_bytes(&tile));
            groups_send<reverse>(work.inputs, &tile, stage_x, &stage->arrived);
            groups_send<reverse>(work.coeffs, &tile, stage_c, &stage->arrived);
        } else if (warp < num_warps) { /* sum */
            mbarrier_wait(&stage->arrived, parity);
            rows_take<rows, reverse>(stage_x, work.inputs, &tile, own, 0.0f, x);
            rows_take<rows, reverse>(stage_c, work.coeffs, &tile, own, 1.0f, c);
#pragma unroll
            for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
                if (nothing && own + i == tile.first)
                    c[0][i] = 1.0f;
            struct pair groups[rows];
#pragma unroll
            for (int r = 0; r < rows; r++) {
                groups[r].product = c[r][0], groups[r].sum = x[r][0];
#pragma unroll
                for (int i = 1; i < 4; i++) {
                    const struct pair element = {c[r][i], x[r][i]};
                    groups[r] = pair_join(groups[r], element);
                }
            }
            const struct pair whole_warp = rows_total<rows>(groups);
            copy_engine_fence(); /* the tile was read before its stage is filled again */
            __syncwarp();
            if (lane == 0) {
                stage->totals.product[warp] = whole_warp.product, stage->totals.sum[warp] = whole_warp.sum;
                mbarrier_arrive(&stage->summed);
            }
        } else if (single < 0) { /* apply */
            mbarrier_wait(&stage->summed, parity);
            rows_take<rows, reverse>(stage_x, work.inputs, &tile, own, 0.0f, x);
            rows_take<rows, reverse>(stage_c, work.coeffs, &tile, own, 1.0f, c);
#pragma unroll
            for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
                if (nothing && own + i == tile.first)
                    c[0][i] = 1.0f;
            rows_scan<rows>(x, c, before, lane);
            const struct pair up_to_warp = totals_scan(&stage->totals, num_warps, lane);
            mbarrier_wait(&stage->known, parity);
            const float carry = stage->carry;
#if !BULKST
            copy_engine_fence();
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&stage->free);
#endif
            const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
            const float before_warp = __shfl_sync(ALL_LANES, leaves, (row_warp + 31) % 32);
            rows_add<rows>(x, c, before, row_warp == 0 ? carry : before_warp, nothing && row_warp == 0, lane);
#if !BULKST
#pragma unroll
            for (int r = 0; r < rows; r++)
                store4_unsplit<reverse>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
#else
#pragma unroll
            for (int r = 0; r < rows; r++) {
                const int at = own + r * PIPE_ROW;
                if (is_whole(at, tile.first, tile.last))
                    store4<reverse>(stage_x, at, tile.first, tile.last, x[r]);
                else
                    store4<reverse>(work.outputs + tile.at, at, tile.first, tile.last, x[r]);
            }
            copy_engine_fence();
            __syncwarp();
            if (lane == 0) {
                const int begin = row_warp * rows * PIPE_ROW, end = begin + rows * PIPE_ROW;
                const int first = (tile.first + 3) & ~3, last = tile.last & ~3;
                const int low = begin > first ? begin : first, high = end < last ? end : last;
                if (high > low) {
                    const int at = place<reverse>(low, high - low);
                    bulk_store(work.outputs + tile.at + at, stage_x + at, (high - low) * 4);
                }
                bulk_commit();
                bulk_read_but_one();
                if (turn > 0)
                    mbarrier_arrive(&stages[(turn - 1) % work.num_stages].free);
            }
#endif
        } else if (single == TELL) { /* tell */
            mbarrier_wait(&stage->summed, parity);
            const struct pair whole = pair_shfl(totals_scan(&stage->totals, num_warps, lane), num_warps - 1);
            __syncwarp();
#if RING
            if (lane < 2)
                word_write(ring_at(space, turn, blockIdx.x, gridDim.x) + lane, turn + 1,
                           __float_as_uint(lane == 0 ? whole.product : whole.sum));
            if (lane == 0) {
                if (0)
#else
            if (lane == 0) {
#endif
                word_write(&space->words[number], word_half(whole.product), word_half(whole.sum));
                mbarrier_arrive(&stage->free);
            }
            if (number + gridDim.x >= work.cut.num_tiles) { /* its last tile; with its carry all is read */
                mbarrier_wait(&stage->known, parity);
                leave_workspace(space, RING ? 1 + 2 * RING * gridDim.x : work.cut.num_tiles, lane);
            }
        } else if (single == LOOK) { /* look */
            const unsigned count = tile.number_in_seq < gridDim.x ? tile.number_in_seq : gridDim.x;
            wait_later(stages, work.num_stages, turn, (work.cut.num_tiles - 1 - blockIdx.x) / gridDim.x);
            const struct pair since = NOLOOK ? pair{1.0f, 0.0f} :
#if RING
            ring_join(space, number, count, gridDim.x, lane);
#else
            words_join(&space->words[number - count], count, lane);
#endif
            pass_on(stages, work.num_stages, turn, since, tile.number_in_seq > gridDim.x, lane);
        }
    }
    if (BULKST && single < 0 && warp >= num_warps && lane == 0)
        bulk_read_all();
}

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)
extern "C" cudaError_t NAME(waves_, TAG)(const struct linrec_args *args, cudaStream_t stream)
{
    struct waves_shape shape;
    cudaError_t error = waves_shape(args, 4, WAVES_MAX_THREADS, 2, &shape);
    if (error == cudaSuccess)
        error = lookback_check(args, false, &shape.cut);
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
    void (*const kernel)(struct forward_work, struct workspace *) =
        args->reverse ? (shape.rows == 2 ? waves_forward_b<2, 1> : waves_forward_b<4, 1>)
                      : (shape.rows == 2 ? waves_forward_b<2, 0> : waves_forward_b<4, 0>);
    const struct forward_work work = {shape.cut,    shape.stages, shape.threads / 32,
                                      args->inputs, args->coeffs, args->outputs};
    error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.most_shared);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, 2 * shape.threads + NUM_SINGLES * 32, shape.shared, stream>>>(
        work, (struct workspace *)args->workspace);
    return cudaGetLastError();
}
