/* SPDX-License-Identifier: MIT */
/* 04.3  Several rows in a warp

   Rows of 8 elements would leave 24 lanes of a warp idle. So a warp takes several whole rows, as many as fit into its
   32 lanes, one element for each lane:

       seq_len = 5:  lane     0  1  2  3  4 | 5  6  7  8  9 | 10 ... 14 | ... 25 26 27 28 29 | 30 31
                     row      0             | 1             | 2         | ... 5              | none
                     position 0  1  2  3  4 | 0  1  2  3  4 | 0

   A row knows nothing of its neighbours: a NaN in one row must not reach another one, and multiplying by 0 does not
   stop it. The first coefficient of each row is not used; it may be NaN.

   Goal: one scan for all rows of a warp, with as few steps as a row takes: for rows of 8 elements 5 shuffles (the
   product of the last step is not needed). As many blocks as it takes, of one warp each. No barrier.

   Write where it says "here". Now it takes one warp for each row, and steps that go too far. */
#include <cuda_runtime.h>

static __global__ void scan(int num_seqs, int seq_len, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int lane = threadIdx.x;
    const int row = blockIdx.x; /* here: of all rows */
    const int position = lane;  /* here: in its row */
    const bool mine = position < seq_len && row < num_seqs;
    const size_t i = (size_t)row * seq_len + position;

    float product = 1.0f, sum = 0.0f;
    if (mine) {
        sum = inputs[i];
        if (position > 0)
            product = coeffs[i];
    }

    for (int d = 1; d < 32; d *= 2) { /* here */
        const float sum_before = __shfl_up_sync(0xFFFFFFFF, sum, d);
        const float product_before = __shfl_up_sync(0xFFFFFFFF, product, d);
        if (lane >= d) { /* here */
            sum = sum_before * product + sum;
            product = product_before * product;
        }
    }

    if (mine)
        outputs[i] = sum;
}

/* seq_len: at most 32 */
extern "C" cudaError_t launch_segmented(int num_seqs, int seq_len, const float *inputs, const float *coeffs,
                                        float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    const int blocks = num_seqs; /* here */
    scan<<<blocks, 32>>>(num_seqs, seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
