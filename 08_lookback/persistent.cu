/* persistent.cu - the blocks stay, one on each multiprocessor, and tiles wait in shared memory while a warp looks at other
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

#include "lookback.cuh"

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
static __global__ void __launch_bounds__(2 * PERSISTENT_MAX_THREADS + NUM_SINGLES * 32, 1)
    persistent_forward(struct forward_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ struct stage stages[PERSISTENT_MAX_STAGES];
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
            fence_proxy_async(); /* the tile was read before its stage is filled again */
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
            fence_proxy_async();
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&stage->free);
            const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
            const float before_warp = __shfl_sync(ALL_LANES, leaves, (row_warp + 31) % 32);
            rows_add<rows>(x, c, before, row_warp == 0 ? carry : before_warp, nothing && row_warp == 0, lane);
#pragma unroll
            for (int r = 0; r < rows; r++)
                store4_unsplit<reverse>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
        } else if (single == TELL) { /* tell */
            mbarrier_wait(&stage->summed, parity);
            const struct pair whole = pair_shfl(totals_scan(&stage->totals, num_warps, lane), num_warps - 1);
            __syncwarp();
            if (lane == 0) {
                word_write(&space->words[number], word_half(whole.product), word_half(whole.sum));
                mbarrier_arrive(&stage->free);
            }
            if (number + gridDim.x >= work.cut.num_tiles) { /* its last tile; with its carry all is read */
                mbarrier_wait(&stage->known, parity);
                leave_workspace(space, work.cut.num_tiles, lane);
            }
        } else if (single == LOOK) { /* look */
            const unsigned count = tile.number_in_seq < gridDim.x ? tile.number_in_seq : gridDim.x;
            wait_for_later(stages, work.num_stages, turn, (work.cut.num_tiles - 1 - blockIdx.x) / gridDim.x);
            const struct pair since = words_join(&space->words[number - count], count, lane);
            pass_on(stages, work.num_stages, turn, since, tile.number_in_seq > gridDim.x, lane);
        }
    }
}

extern "C" cudaError_t lookback_persistent(const struct linrec_args *args, cudaStream_t stream)
{
    struct persistent_shape shape;
    cudaError_t error = persistent_shape(args, 4, PERSISTENT_MAX_THREADS, 2, &shape);
    if (error == cudaSuccess)
        error = lookback_check(args, false, &shape.cut);
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
    void (*const kernel)(struct forward_work, struct workspace *) =
        args->reverse ? (shape.rows == 2 ? persistent_forward<2, 1> : persistent_forward<4, 1>)
                      : (shape.rows == 2 ? persistent_forward<2, 0> : persistent_forward<4, 0>);
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
