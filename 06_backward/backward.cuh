/* backward.cuh - the gradients. Count the elements in the order of the scan, which is against that of the pass that it
   differentiates: s = 0 is the last element of a forward pass, the first one of a reversed pass. Then, either way,

       dx[s] = dx[s-1] * c[s-1] + dy[s]        dy = d_outputs, dx = d_inputs
       dc[s] = y[s+1] * dx[s]                  dc = d_coeffs; the last one is 0

   A coefficient comes from one element before, an output from one element behind. Two tricks keep both shifts out of
   memory, where they would be unaligned:

       group of a thread      s            s+1          s+2          s+3
       dx                     into + dy    * c[s]  + dy * c[s+1]+ dy * c[s+2]+ dy      * c[s+3] = into of the next group
       dc                     * y[s+1]     * y[s+2]     * y[s+3]     * y[s+4]   <- the first y of the next group

   - What a group hands on is not dx[s+3] but dx[s+3] * c[s+3]: the coefficient that the next element needs is used
     where it lies.
   - The one y that is missing is the neighbour lane's; the last lane of a warp's last row gets it from memory. */
#ifndef BACKWARD_CUH
#define BACKWARD_CUH

#include "../05_pipe/pipe.cuh"

/* Moves the coefficients of a group to the elements that they are used for, one further; the first one gets a 1,
   because its own was used by the group before. Returns the one that is left over. */
template <int group>
static __device__ __forceinline__ float thread_shift(float *c)
{
    const float last = c[group - 1];
#pragma unroll
    for (int i = group - 1; i > 0; i--)
        c[i] = c[i - 1];
    c[0] = 1.0f;
    return last;
}

/* The first element of the group behind: that of the next lane, and for the last lane that of lane 0 in the next row.
 */
static __device__ __forceinline__ float group_behind(float first, float first_of_next_row, int lane)
{
    return __shfl_sync(ALL_LANES, lane == 0 ? first_of_next_row : first, (lane + 1) % 32);
}

/* fused: both gradients. Otherwise d_inputs only, and outputs and d_coeffs are not touched. `reverse` is the direction
   of this scan, not of the pass. */
template <int movement, int rows, int max_threads, int fused, int reverse>
__global__ void __launch_bounds__(max_threads)
    pipe_backward(size_t seq_len, int num_stages, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                  const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    extern __shared__ __align__(128) float shared[];
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    __shared__ uint64_t arrived[PIPE_MAX_STAGES];

    const int group = 4, arrays = fused ? 3 : 2;
    const struct layout layout = make_layout<rows, group>();
    const int lane = layout.lane, warp = layout.warp;
    const struct stream stream = make_stream<reverse>(seq_len, blockIdx.x, blockIdx.x + (size_t)1);
    struct stages stages = {shared, arrived, num_stages, 0, 0};

    const float *const from[] = {d_outputs, coeffs, outputs};
    float values[3][rows][group], ahead[3][rows][group];
    float(*x)[group] = values[0], (*c)[group] = values[1], (*y)[group] = values[2];
    float carry = 0.0f; /* what comes into the tile */
    int turn = 0;       /* which of the totals */

    tiles_start<movement, arrays, rows, group, reverse>(from, &stream, &layout, &stages, ahead);
    for (size_t base = 0; base < stream.end; base += layout.size) {
        const struct tile tile = tile_at<reverse>(&stream, base, layout.size);
        const bool nothing = base == 0 && warp == 0; /* comes into the sequence's first warp */

        /* 1. the tile comes into registers; one output more for each warp */
        const int behind = (warp + 1) * rows * layout.row;
        float y_behind = 0.0f;
        if (fused && lane == 0 && base + behind < stream.end)
            y_behind = outputs[place<reverse>(&tile, behind, 1)];
        tile_arrive<movement, arrays, rows, group, reverse>(from, &stream, base, &layout, &stages, ahead, values);

        /* 2. each thread its groups, the lanes of a row, row after row */
        struct pair mine[rows], before[rows];
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float last = thread_shift<group>(c[r]);
            thread_scan<group>(x[r], c[r]);
            mine[r].product = c[r][group - 1] * last, mine[r].sum = x[r][group - 1] * last;
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
        tile_refill<movement, arrays, rows, reverse>(from, &stream, base, &layout, &stages);
        const float into_warp = block_collect(&totals[turn], base == 0, &carry, warp, layout.num_warps, lane);

        /* 4. what comes in is added; x is d_inputs now, and y becomes d_coeffs */
        const int last = base + layout.size < stream.end ? -1 : tile.end - 1; /* of the sequence, in this tile */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = nothing ? before[r].sum : into_warp * before[r].product + before[r].sum;
            thread_carry<group>(into, x[r], c[r]);
            if (fused) {
                const float y_next = group_behind(y[r][0], r + 1 < rows ? y[r + 1][0] : y_behind, lane);
                const int at = layout.own + r * layout.row;
#pragma unroll
                for (int i = 0; i < group; i++)
                    y[r][i] = at + i == last ? 0.0f : (i + 1 < group ? y[r][i + 1] : y_next) * x[r][i];
            }
        }
        tile_store<movement, rows, group, reverse>(&stream, base, d_inputs, &layout, &stages, x);
        if (fused)
            tile_store<movement, rows, group, reverse>(&stream, base, d_coeffs, &layout, &stages, y);

        turn ^= 1;
        stages_next(&stages);
    }
}

#endif
