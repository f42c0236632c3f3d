/* SPDX-License-Identifier: MIT */
/* gradient_rows.cuh - warp_rows.cuh for the gradients (chapter 06), for the backward kernels of chapter 08: load a
   warp's rows of three arrays, and make the gradients of the coefficients of the outputs. Each element needs the output
   after it. The one after a lane's group is the next lane's first, the one after a row is the next row's first, and the
   one after the warp's rows another warp's, in global memory. */
#ifndef GRADIENT_ROWS_CUH
#define GRADIENT_ROWS_CUH

#include "warp_rows.cuh"

/* From memory, of sequence `seq`, to whose last output the final state's gradient is added: x, the gradients of the
   outputs; c, the coefficients; y, the outputs. own: where the lane's group in the first row lies in the tile. Returns,
   in lane 0, the first output after the warp's rows. */
template <int rows, int from_end>
static __device__ __forceinline__ float rows_load_gradients(const struct states *states, unsigned seq,
                                                            const float *d_outputs, const float *coeffs,
                                                            const float *outputs, const struct tile *tile, int own,
                                                            int lane, float (*x)[4], float (*c)[4], float (*y)[4])
{
    const int behind = own - lane * 4 + rows * PIPE_ROW, last_y = tile->last + !tile->is_last;
    float y_behind = 0.0f;
    if (lane == 0 && behind < last_y)
        y_behind = outputs[tile->at + place<from_end>(behind, 1)];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<from_end>(d_outputs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 0.0f, x[r]);
        load4<from_end>(coeffs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 1.0f, c[r]);
        load4<from_end>(outputs + tile->at, own + r * PIPE_ROW, tile->first, last_y, 0.0f, y[r]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (tile->number_in_seq == 0 && own + i == tile->first)
            enter_gradient(states, seq, &x[0][i]);
    return y_behind;
}

/* Of one row: y becomes the gradient of the coefficients, from the gradients of the inputs x and the outputs y.
   next_row: in lane 0, the first output after the row. very_last: where in the lane's group the sequence's last element
   is, if it is there. */
static __device__ __forceinline__ void row_d_coeffs(const struct states *states, float initial_state, int very_last,
                                                    const float *x, float *y, float next_row, int lane)
{
    const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[0], (lane + 1) % 32);
#pragma unroll
    for (int i = 0; i < 4; i++)
        y[i] = i == very_last ? first_d_coeff(states, initial_state, x[i]) : (i < 3 ? y[i + 1] : y_next) * x[i];
}

#endif
