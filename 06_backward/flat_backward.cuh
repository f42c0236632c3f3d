/* flat_backward.cuh - the gradients of short sequences, each warp by itself: chapter 05's flat with the shifts of
   backward.cuh. */
#ifndef FLAT_BACKWARD_CUH
#define FLAT_BACKWARD_CUH

#include "../05_pipe/flat.cuh"
#include "backward.cuh"

template <int fused, int reverse>
static __global__ void __launch_bounds__(PIPE_FLAT_MAX_THREADS)
    flat_backward(size_t num_seqs, int seq_len, int seqs_per_warp, const float *__restrict__ d_outputs,
                  const float *__restrict__ coeffs, const float *__restrict__ outputs, float *__restrict__ d_inputs,
                  float *__restrict__ d_coeffs)
{
    const int lane = threadIdx.x % 32;
    const struct tile all = flat_stream<reverse>(num_seqs, seq_len, seqs_per_warp);
    const int own = lane * 4;
    float x[4], c[4], y[4] = {0.0f}, next_x[4], next_c[4], next_y[4] = {0.0f};
    float carry = 0.0f; /* what comes into the row; a stream begins with a start, which lets nothing in */

    group_load<4, reverse>(&all, d_outputs, 0.0f, own, next_x);
    group_load<4, reverse>(&all, coeffs, 1.0f, own, next_c);
    if (fused)
        group_load<4, reverse>(&all, outputs, 0.0f, own, next_y);
    int position = flat_position(&all, own, seq_len);
    const int row_step = wrap(PIPE_FLAT_ROW, seq_len);
    for (int at = own; at - own < all.end; at += PIPE_FLAT_ROW) {
#pragma unroll
        for (int i = 0; i < 4; i++) /* the row is there; the next one sets out */
            x[i] = next_x[i], c[i] = next_c[i], y[i] = next_y[i];
        group_load<4, reverse>(&all, d_outputs, 0.0f, at + PIPE_FLAT_ROW, next_x);
        group_load<4, reverse>(&all, coeffs, 1.0f, at + PIPE_FLAT_ROW, next_c);
        if (fused)
            group_load<4, reverse>(&all, outputs, 0.0f, at + PIPE_FLAT_ROW, next_y);

        const int to_start = position == 0 ? 0 : seq_len - position;
        const int start = to_start < 4 ? to_start : 4; /* of a sequence, in the group */
        const float last = thread_shift<4>(c);
        group_scan(start, seq_len, x, c);
        const unsigned starts = __ballot_sync(ALL_LANES, start < 4);
        const struct pair mine = {c[3] * last, x[3] * last};
        const float into = flat_into(mine, starts, carry, lane);
#pragma unroll
        for (int i = 0; i < 4; i++) /* up to the group's first start */
            x[i] = i < start ? into * c[i] + x[i] : x[i];
        carry = __shfl_sync(ALL_LANES, x[3] * last, 31);
        group_store<4, reverse>(&all, d_inputs, at, x);

        if (fused) {
            const float y_next = group_behind(y[0], next_y[0], lane);
            int end = seq_len - 1 - position; /* of a sequence, in the group; there may be several */
#pragma unroll
            for (int i = 0; i < 4; i++) {
                y[i] = i == end ? 0.0f : (i < 3 ? y[i + 1] : y_next) * x[i];
                end = i == end ? end + seq_len : end;
            }
            group_store<4, reverse>(&all, d_coeffs, at, y);
        }
        position = flat_next(position, row_step, seq_len);
    }
}

#endif
