/* SPDX-License-Identifier: MIT */
/* 03.4  The last output */
#include <cuda_runtime.h>

static __global__ void last(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ lasts)
{
    __shared__ float products[1024], sums[1024];
    const int thread = threadIdx.x, num_threads = blockDim.x;
    const size_t row = (size_t)blockIdx.x * seq_len;

    sums[thread] = thread < seq_len ? inputs[row + thread] : 0.0f;
    products[thread] = thread > 0 && thread < seq_len ? coeffs[row + thread] : 1.0f; /* coeffs[0] is never used */

    for (int d = 1; d < num_threads; d *= 2) {
        __syncthreads(); /* the pair at thread + d has been written in the step before */
        if (thread % (2 * d) == 0 && thread + d < num_threads) {
            sums[thread] = sums[thread] * products[thread + d] + sums[thread + d];
            products[thread] = products[thread] * products[thread + d];
        }
    }

    if (thread == 0)
        lasts[blockIdx.x] = sums[0];
}

extern "C" cudaError_t launch_last(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *lasts)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    last<<<num_seqs, (seq_len + 31) / 32 * 32>>>(seq_len, inputs, coeffs, lasts);
    return cudaGetLastError();
}
