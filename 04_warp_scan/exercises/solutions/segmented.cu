/* SPDX-License-Identifier: MIT */
/* 04.3  Several rows in a warp */
#include <cuda_runtime.h>

static __global__ void scan(int num_seqs, int seq_len, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int lane = threadIdx.x, rows = 32 / seq_len;
    const int row = blockIdx.x * rows + lane / seq_len, position = lane % seq_len;
    const bool mine = lane < rows * seq_len && row < num_seqs;
    const size_t i = (size_t)row * seq_len + position;

    float product = 1.0f, sum = 0.0f;
    if (mine) {
        sum = inputs[i];
        if (position > 0)
            product = coeffs[i];
    }

    for (int d = 1; d < seq_len; d *= 2) {
        const float sum_before = __shfl_up_sync(0xFFFFFFFF, sum, d);
        float product_before = 1.0f;
        if (2 * d < seq_len) /* nobody needs the products of the last step */
            product_before = __shfl_up_sync(0xFFFFFFFF, product, d);
        if (position >= d) { /* the lane d before this one has the same row */
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
    const int rows = 32 / seq_len, blocks = (num_seqs + rows - 1) / rows;
    scan<<<blocks, 32>>>(num_seqs, seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
