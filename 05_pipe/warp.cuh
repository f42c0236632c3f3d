/* warp.cuh - a warp takes a whole sequence into its registers: for sequences of 129 to 512 elements. No shared memory,
   no barrier, no loop, and all loads are on their way before anything is computed. */
#ifndef WARP_CUH
#define WARP_CUH

#include "flat.cuh"
#include "pipe.cuh"

/* Sequences of up to 128 * rows - 3 elements, or 128 * rows if seq_len is a multiple of 4. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(PIPE_FLAT_MAX_THREADS)
    warp_forward(size_t num_seqs, int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                 float *__restrict__ outputs)
{
    const int lane = threadIdx.x % 32, own = lane * 4;
    const struct tile all = flat_stream<reverse>(num_seqs, seq_len, 1);
    float x[rows][4], c[rows][4];
    struct pair mine[rows], before[rows];

#pragma unroll
    for (int r = 0; r < rows; r++) {
        group_load<4, reverse>(&all, inputs, 0.0f, own + r * PIPE_FLAT_ROW, x[r]);
        group_load<4, reverse>(&all, coeffs, 1.0f, own + r * PIPE_FLAT_ROW, c[r]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) /* the coefficient that is not used */
        c[0][i] = own + i == all.begin ? 1.0f : c[0][i];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        thread_scan<4>(x[r], c[r]);
        mine[r].product = c[r][3], mine[r].sum = x[r][3];
    }
    rows_scan<rows>(mine, before, lane);
#pragma unroll
    for (int i = 0; i < 4; i++) /* nothing comes into the first group: 0 * infinity would be NaN */
        c[0][i] = lane == 0 ? 0.0f : c[0][i];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        thread_carry<4>(before[r].sum, x[r], c[r]);
        group_store<4, reverse>(&all, outputs, own + r * PIPE_FLAT_ROW, x[r]);
    }
}

#endif
