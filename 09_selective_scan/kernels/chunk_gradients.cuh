/* SPDX-License-Identifier: MIT */
/* chunk_gradients.cuh - the walks of fused_backward.cu, state_passing_backward.cu and checkpoints_backward.cu: a warp
   goes through its chunk twice, in registers, forward for the states, back for the gradients. A lane has two channels,
   k = 0 and 1, and four states i of each (channel_pairs.cuh). With h[t] the states and g[t] their gradients:

       walk_forward  h from the state before the chunk -> -> -> ->   and beside it what the chunk will do to a gradient:
                                                                     product[t] = a[0] ... a[t]
                                                                     start     += product[t] d_y[t] C[t]
       walk_back     <- <- <- <- g from the gradient behind the chunk, which is start + product carry for the one before

   What walk_forward knows of a step and state, a and a h, waits in registers for walk_back. Of h itself nothing is
   kept: d_A and d_step need g a h. The rows of a stage hold u, B, C and, where d_out was, d_y = d_out silu(z); `steps`
   has two rows a channel, step and step u. A walk takes four steps at a time, since as many lie side by side there.

   Of the sequence's last chunk only the first `left` steps need be in the sequence. Behind them all rows are 0, so that
   states and gradients stay as they are; only a = exp(0 A) is NaN if A is infinite, and must not reach a gradient. */
#ifndef CHUNK_GRADIENTS_CUH
#define CHUNK_GRADIENTS_CUH

#include "gradient_sums.cuh"

/* The rows of a chunk that a lane reads, in shared memory, 8 steps in each. */
struct chunk_rows {
    const float *steps[2], *d_y[2]; /* of its channels: step, and ROOM(BOTH(lanes), STEPS) behind it step u */
    const float *B[4], *C[4];       /* of its states */
};

/* All rows of a chunk begin at `steps`, d_y, B and C. */
template <int lanes>
static __device__ __forceinline__ struct chunk_rows rows_of(const float *steps, const float *d_y, const float *B,
                                                            const float *C, int row, int part, int order)
{
    struct chunk_rows rows;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        rows.steps[k] = steps + swizzled<STEPS>(row ^ 2 * k, 0);
        rows.d_y[k] = d_y + swizzled<STEPS>(row ^ 2 * k, 0);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        rows.B[i] = B + state_at<lanes>(i, order, part);
        rows.C[i] = C + state_at<lanes>(i, order, part);
    }
    return rows;
}

/* What a lane reads of four steps: for each of its channels. */
template <int lanes>
static __device__ __forceinline__ void get_steps(const struct chunk_rows *rows, int t, float step[2][4],
                                                 float step_u[2][4], float d_y[2][4])
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        get4(rows->steps[k] + t, step[k]);
        get4(rows->steps[k] + ROOM(BOTH(lanes), STEPS) + t, step_u[k]);
        get4(rows->d_y[k] + t, d_y[k]);
    }
}

/* Walks from the states h to the chunk's end. a, kept (a times the state before): for walk_back. y: sums over the
   lane's own states, without D u, of its first channel and what its neighbour has of it. sums: of d_C, as add_channels
   leaves them. */
template <int lanes>
static __device__ __forceinline__ void walk_forward(const struct chunk_rows *rows, const float A[2][4], float h[2][4],
                                                    float a[STEPS][2][4], float kept[STEPS][2][4], float y[STEPS],
                                                    float sums[STEPS])
{
#pragma unroll
    for (int t = 0; t < STEPS; t += 4) {
        float step[2][4], step_u[2][4], d_y[2][4], y_of[4][2] = {}, d_C[4][4] = {};
        get_steps<lanes>(rows, t, step, step_u, d_y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float B[4], C[4];
            get4(rows->B[i] + t, B);
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    a[t + j][k][i] = fast_exp2(step[k][j] * A[k][i]);
                    kept[t + j][k][i] = a[t + j][k][i] * h[k][i];
                    h[k][i] = kept[t + j][k][i] + step_u[k][j] * B[j];
                    y_of[j][k] += C[j] * h[k][i];
                    d_C[j][i] += d_y[k][j] * h[k][i];
                }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            y[t + j] = add_half<lanes>(y_of[j]);
            sums[t + j] = add_channels<lanes>(d_C[j]);
        }
    }
}

/* What the chunk makes of a gradient that comes: start + product gradient. start is what the way back makes of 0. */
template <int lanes>
static __device__ __forceinline__ void walk_back_from_0(const struct chunk_rows *rows, const float A[2][4],
                                                        const float a[STEPS][2][4], float product[2][4],
                                                        float start[2][4])
{
    float sum[2] = {};
#pragma unroll
    for (int t = STEPS - 4; t >= 0; t -= 4) {
        float step[2][4], d_y[2][4];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            get4(rows->steps[k] + t, step[k]);
            get4(rows->d_y[k] + t, d_y[k]);
            sum[k] += step[k][0] + step[k][1] + (step[k][2] + step[k][3]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float C[4];
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 3; j >= 0; j--)
#pragma unroll
                for (int k = 0; k < 2; k++)
                    start[k][i] = a[t + j][k][i] * (d_y[k][j] * C[j] + start[k][i]);
        }
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            product[k][i] = fast_exp2(sum[k] * A[k][i]);
}

/* Walks back from carry, a g of the step behind the chunk, and leaves in it that of the chunk's first step. d_A: sums
   over the chunk's `left` steps. d_input, d_step: as y above; d_input is to be multiplied by step, d_step by log 2, and
   u d_input is missing there. sums: of d_B. */
template <int lanes>
static __device__ __forceinline__ void
walk_back(const struct chunk_rows *rows, const float A[2][4], const float a[STEPS][2][4], const float kept[STEPS][2][4],
          int left, float carry[2][4], float d_A[2][4], float d_input[STEPS], float d_step[STEPS], float sums[STEPS])
{
#pragma unroll
    for (int t = STEPS - 4; t >= 0; t -= 4) {
        float step[2][4], step_u[2][4], d_y[2][4], d_input_of[4][2] = {}, d_step_of[4][2] = {}, d_B[4][4] = {};
        get_steps<lanes>(rows, t, step, step_u, d_y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float B[4], C[4];
            get4(rows->B[i] + t, B);
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 3; j >= 0; j--)
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const float g = d_y[k][j] * C[j] + carry[k][i], g_kept = g * kept[t + j][k][i];
                    d_input_of[j][k] += g * B[j];
                    d_step_of[j][k] += g_kept * A[k][i];
                    if (t + j < left) { /* an infinite state behind the last step belongs to no gradient */
                        carry[k][i] = a[t + j][k][i] * g;
                        d_A[k][i] += g_kept * step[k][j];
                    }
                    d_B[j][i] += g * step_u[k][j];
                }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            d_input[t + j] = add_half<lanes>(d_input_of[j]);
            d_step[t + j] = add_half<lanes>(d_step_of[j]);
            sums[t + j] = add_channels<lanes>(d_B[j]);
        }
    }
}

#endif
