/* SPDX-License-Identifier: MIT */
/* warp_rows.cuh - a warp's part of a tile, in registers, for all kernels of chapter 08, and for chapter 12's: load it,
   scan it, and add what comes in from the left. These are steps 1, 2 and 4 of chapter 05's kernels. A warp has up to
   four rows of 128 elements, and a lane a group of four neighbours in each:

       row 0    | lane 0: x[0][0..3] | lane 1: x[0][0..3] | ... | lane 31 |
       row 1    | lane 0: x[1][0..3] | lane 1: x[1][0..3] | ... | lane 31 |      128 elements further on              */
#ifndef WARP_ROWS_CUH
#define WARP_ROWS_CUH

#include "../04_warp_scan/warp_scan.cuh"
#include "../06_backward/states.cuh"
#include "tile.cuh"

/* From memory. own: where the lane's group in the first row lies in the tile. */
template <int rows, int from_end>
static __device__ __forceinline__ void rows_read(const float *inputs, const float *coeffs, const struct tile *tile,
                                                 int own, float (*x)[4], float (*c)[4])
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<from_end>(inputs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 0.0f, x[r]);
        load4<from_end>(coeffs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 1.0f, c[r]);
    }
}

/* The same; the sequence's first coefficient is not used. */
template <int rows, int from_end>
static __device__ __forceinline__ void rows_load(const float *inputs, const float *coeffs, const struct tile *tile,
                                                 int own, float (*x)[4], float (*c)[4])
{
    rows_read<rows, from_end>(inputs, coeffs, tile, own, x, c);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (tile->number_in_seq == 0 && own + i == tile->first)
            c[0][i] = 1.0f;
}

/* The same of sequence `seq`, which may go on from a state. */
template <int rows, int from_end>
static __device__ __forceinline__ void rows_load_from(const struct states *states, unsigned seq, const float *inputs,
                                                      const float *coeffs, const struct tile *tile, int own,
                                                      float (*x)[4], float (*c)[4])
{
    rows_read<rows, from_end>(inputs, coeffs, tile, own, x, c);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (tile->number_in_seq == 0 && own + i == tile->first)
            enter_state(states, state_load(states->initial_state, seq), &x[0][i], &c[0][i]);
}

/* x[r] and c[r]: the lane's group of four in row r. Afterwards x is the group's sum so far, c its product so far, and
   before[r] what the warp's elements before the group do. Returns what all of the warp's rows do. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan(float (*x)[4], float (*c)[4], struct pair *before, int lane)
{
    struct pair warp_aggregate;
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
            c[r][i] = c[r][i - 1] * c[r][i];
        }
        const struct pair mine = {c[r][3], x[r][3]};
        const struct pair up_to_here = warp_scan(mine, lane), row_aggregate = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(warp_aggregate, before[r]);
        warp_aggregate = r == 0 ? row_aggregate : pair_join(warp_aggregate, row_aggregate);
    }
    return warp_aggregate;
}

/* rows_scan for the gradients (chapter 06): a group's coefficients move on by one, and the last only scales what leaves
   the group. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan_shifted(float (*x)[4], float (*c)[4], struct pair *before,
                                                                int lane)
{
    struct pair warp_aggregate;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float left_over = c[r][3];
        c[r][3] = c[r][2], c[r][2] = c[r][1], c[r][1] = c[r][0], c[r][0] = 1.0f;
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
            c[r][i] = c[r][i - 1] * c[r][i];
        }
        const struct pair mine = {c[r][3] * left_over, x[r][3] * left_over};
        const struct pair up_to_here = warp_scan(mine, lane), row_aggregate = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(warp_aggregate, before[r]);
        warp_aggregate = r == 0 ? row_aggregate : pair_join(warp_aggregate, row_aggregate);
    }
    return warp_aggregate;
}

/* After rows_scan: puts what lies before a lane's groups into them. x becomes the sum since the warp's first element, c
   the product, and nobody needs `before` any more. */
template <int rows>
static __device__ __forceinline__ void rows_settle(float (*x)[4], float (*c)[4], const struct pair *before, int lane)
{
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (lane > 0 || r > 0) /* adding 0 * c would not do */
                x[r][i] = before[r].sum * c[r][i] + x[r][i];
            c[r][i] *= before[r].product;
        }
}

/* What comes in is added to the warp's rows: `into_warp` before its first. Nothing comes into a sequence's first group
   (`no_carry`, of the lane's first row); adding 0 * c would not do, because 0 * infinity is NaN. */
template <int rows>
static __device__ __forceinline__ void rows_add(float (*x)[4], float (*c)[4], const struct pair *before,
                                                float into_warp, bool no_carry, int lane)
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float into = no_carry ? before[r].sum : into_warp * before[r].product + before[r].sum;
        if (!no_carry || lane > 0 || r > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = into * c[r][i] + x[r][i];
        }
    }
}

#endif
