/* pipe.cuh - one block per sequence of any length: tile after tile, with a carry between them. How a tile lies and
   moves is said in tile_move.cuh. */
#ifndef PIPE_CUH
#define PIPE_CUH

#include "../03_tile/tile.cuh"
#include "../04_warp_scan/warp_scan.cuh"
#include "pipe.h"
#include "tile_move.cuh"

/* The rows of a warp, one behind the other. mine[r]: what the thread's group of row r does. Afterwards before[r] is
   what lies between the warp's first element and that group. Returns what all the rows do together. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan(const struct pair *mine, struct pair *before, int lane)
{
    struct pair so_far = {1.0f, 0.0f};
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const struct pair up_to_here = warp_scan(mine[r], lane), whole_row = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(so_far, before[r]);
        so_far = r == 0 ? whole_row : pair_join(so_far, whole_row);
    }
    return so_far;
}

template <int movement, int rows, int group, int max_threads, int reverse>
__global__ void __launch_bounds__(max_threads)
    pipe_forward(size_t seq_len, int num_stages, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                 float *__restrict__ outputs)
{
    extern __shared__ __align__(128) float shared[];
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    __shared__ uint64_t arrived[PIPE_MAX_STAGES];

    static_assert(movement <= PIPE_STAGED ? rows == 1 : group == 4, "see PIPE_CONFIGS");
    const struct layout layout = make_layout<rows, group>();
    const int lane = layout.lane, warp = layout.warp;
    const struct stream stream = make_stream<reverse>(seq_len, blockIdx.x, blockIdx.x + (size_t)1);
    struct stages stages = {shared, arrived, num_stages, 0, 0};

    const float *const from[] = {inputs, coeffs};
    float values[2][rows][group], ahead[2][rows][group];
    float(*x)[group] = values[0], (*c)[group] = values[1];
    float carry = 0.0f; /* what comes into the tile */
    int turn = 0;       /* which of the totals */

    tiles_start<movement, 2, rows, group, reverse>(from, &stream, &layout, &stages, ahead);
    for (size_t base = 0; base < stream.end; base += layout.size) {
        /* Nothing comes into the sequence's first warp. Adding 0 * product would not do: 0 * infinity is NaN. */
        const bool nothing = base == 0 && warp == 0;

        /* 1. the tile comes into registers */
        tile_arrive<movement, 2, rows, group, reverse>(from, &stream, base, &layout, &stages, ahead, values);
        if (nothing && lane == 0) { /* the coefficient that is not used */
#pragma unroll
            for (int i = 0; i < group; i++)
                c[0][i] = i == (int)stream.begin ? 1.0f : c[0][i];
        }

        /* 2. each thread its groups, the lanes of a row, row after row */
        struct pair mine[rows], before[rows];
#pragma unroll
        for (int r = 0; r < rows; r++) {
            thread_scan<group>(x[r], c[r]);
            mine[r].product = c[r][group - 1], mine[r].sum = x[r][group - 1];
        }
        const struct pair all_rows = rows_scan<rows>(mine, before, lane);
        if (nothing && lane == 0) { /* nor into its first group */
#pragma unroll
            for (int i = 0; i < group; i++)
                c[0][i] = 0.0f;
        }

        /* 3. the warps of the block */
        block_publish(&totals[turn], all_rows, warp, lane);
        __syncthreads();
        tile_refill<movement, 2, rows, reverse>(from, &stream, base, &layout, &stages);
        const float into_warp = block_collect(&totals[turn], base == 0, &carry, warp, layout.num_warps, lane);

        /* 4. what comes in is added, and the tile leaves */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = nothing ? before[r].sum : into_warp * before[r].product + before[r].sum;
            thread_carry<group>(into, x[r], c[r]);
        }
        tile_store<movement, rows, group, reverse>(&stream, base, outputs, &layout, &stages, x);

        turn ^= 1;
        stages_next(&stages);
    }
}

#endif
