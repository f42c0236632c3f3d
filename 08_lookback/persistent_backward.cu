/* persistent_backward.cu - persistent.cu for the gradients, as chapter 06 has them: the coefficients move on by one element, and
   d_coeffs is d_inputs times the next output. A stage holds the tile of three arrays.

       group of a lane     s            s+1              s+2              s+3
       d_inputs            into + dy    * c[s] + dy      * c[s+1] + dy    * c[s+2] + dy      * c[s+3] = into of the next
       d_coeffs            * y[s+1]     * y[s+2]         * y[s+3]         * y[s+4], the next lane's first            */
#include <cuda_runtime.h>

#include "lookback.cuh"

/* What all parts need. */
struct backward_work {
    struct cut cut;
    int num_stages, num_warps;
    const float *d_outputs, *coeffs, *outputs;
    float *d_inputs, *d_coeffs;
};

/* Block b computes tiles b, b + gridDim.x, ... of all arrays, (num_seqs, seq_len); `reverse` is the direction of this
   scan, against that of the pass. Shared memory: num_stages tiles of three arrays. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(2 * PERSISTENT_MAX_THREADS_BACKWARD + NUM_SINGLES * 32, 1)
    persistent_backward(struct backward_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ struct stage stages[PERSISTENT_MAX_STAGES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = work.num_warps;
    const int single = warp - 2 * num_warps, row_warp = warp % num_warps, tile_len = work.cut.tile_len;
    const int own = row_warp * rows * PIPE_ROW + lane * 4; /* of a tile, for the warps of sum and apply */
    float x[rows][4], c[rows][4], y[rows][4];
    struct pair before[rows];

    stages_init(stages, work.num_stages, num_warps);
    for (unsigned number = blockIdx.x, turn = 0; number < work.cut.num_tiles; number += gridDim.x, turn++) {
        struct stage *const stage = &stages[turn % work.num_stages];
        float *const stage_x = tiles + (turn % work.num_stages * 3 + reverse) * tile_len; /* the tile's origin there */
        float *const stage_c = stage_x + tile_len, *const stage_y = stage_c + tile_len;
        const unsigned parity = turn / work.num_stages % 2;
        const struct tile tile = tile_number<reverse>(number, &work.cut);
        const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

        if (single == SEND && lane == 0) { /* send; nobody waits for the first round's stages */
            mbarrier_wait(&stage->free, parity ^ 1);
            mbarrier_expect(&stage->arrived, 3 * groups_bytes(&tile));
            groups_send<reverse>(work.d_outputs, &tile, stage_x, &stage->arrived);
            groups_send<reverse>(work.coeffs, &tile, stage_c, &stage->arrived);
            groups_send<reverse>(work.outputs, &tile, stage_y, &stage->arrived);
        } else if (warp < num_warps) { /* sum; a group hands on its last element times its last coefficient */
            mbarrier_wait(&stage->arrived, parity);
            rows_take<rows, reverse>(stage_x, work.d_outputs, &tile, own, 0.0f, x);
            rows_take<rows, reverse>(stage_c, work.coeffs, &tile, own, 1.0f, c);
            struct pair groups[rows];
#pragma unroll
            for (int r = 0; r < rows; r++) {
                groups[r].product = c[r][0], groups[r].sum = x[r][0] * c[r][0];
#pragma unroll
                for (int i = 1; i < 4; i++) {
                    const struct pair element = {c[r][i], x[r][i] * c[r][i]};
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
            /* The first output after the warp's rows: lane 0 loads it and hands it to lane 31. */
            const int behind = (row_warp + 1) * rows * PIPE_ROW, last_y = tile.last + !tile.is_last;
            const float y_behind =
                lane == 0 && behind < last_y ? work.outputs[tile.at + place<reverse>(behind, 1)] : 0.0f;
            mbarrier_wait(&stage->summed, parity);
            rows_take<rows, reverse>(stage_x, work.d_outputs, &tile, own, 0.0f, x);
            rows_take<rows, reverse>(stage_c, work.coeffs, &tile, own, 1.0f, c);
            rows_take<rows, reverse>(stage_y, work.outputs, &tile, own, 0.0f, y);
#pragma unroll
            for (int r = 0; r < rows;
                 r++) /* if the tile ends between two groups of the warp, it is the next one's first */
                if (!tile.is_last && own + r * PIPE_ROW == tile.last)
                    y[r][0] = work.outputs[tile.at + place<reverse>(tile.last, 1)];
            rows_scan_shifted<rows>(x, c, before, lane);
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
            for (int r = 0; r < rows; r++) {
                const int at = own + r * PIPE_ROW, very_last = tile.is_last ? tile.last - 1 - at : -1; /* d_coeffs: 0 */
                const float next_row = r + 1 < rows ? y[r + 1][0] : y_behind;
                const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[r][0], (lane + 1) % 32);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[r][i] = i == very_last ? 0.0f : (i < 3 ? y[r][i + 1] : y_next) * x[r][i];
                store4_unsplit<reverse>(work.d_inputs + tile.at, at, tile.first, tile.last, x[r]);
                store4_unsplit<reverse>(work.d_coeffs + tile.at, at, tile.first, tile.last, y[r]);
            }
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

extern "C" cudaError_t lookback_persistent_backward(const struct linrec_args *args, cudaStream_t stream)
{
    struct persistent_shape shape;
    cudaError_t error = persistent_shape(args, 4, PERSISTENT_MAX_THREADS_BACKWARD, 3, &shape);
    if (error == cudaSuccess)
        error = lookback_check(args, true, &shape.cut);
    if (error != cudaSuccess || shape.cut.num_tiles == 0)
        return error;
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(struct backward_work, struct workspace *) =
        args->reverse ? (shape.rows == 2 ? persistent_backward<2, 0> : persistent_backward<4, 0>)
                      : (shape.rows == 2 ? persistent_backward<2, 1> : persistent_backward<4, 1>);
    const struct backward_work work = {shape.cut,    shape.stages,  shape.threads / 32, args->d_outputs,
                                       args->coeffs, args->outputs, args->d_inputs,     args->d_coeffs};
    error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.most_shared);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, 2 * shape.threads + NUM_SINGLES * 32, shape.shared, stream>>>(
        work, (struct workspace *)args->workspace);
    return cudaGetLastError();
}
