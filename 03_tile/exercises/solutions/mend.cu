/* SPDX-License-Identifier: MIT */
/* 03.3  Right by luck */
#include <cuda_runtime.h>

static __global__ void mend(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    __shared__ float products[1024], sums[1024];
    const int thread = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * seq_len;

    const float x = thread < seq_len ? inputs[row + thread] : 0.0f;
    const float c = thread > 0 && thread < seq_len ? coeffs[row + thread] : 1.0f; /* nothing comes before the first */

    products[thread] = c;
    sums[thread] = x;
    __syncthreads(); /* thread 0 reads what all have written */
    if (thread == 0) {
        float carry = sums[0];
        for (int i = 1; i < (int)blockDim.x; i++) {
            const float out = carry * products[i] + sums[i];
            sums[i] = carry; /* what comes into thread i takes the place of its sum */
            carry = out;
        }
    }
    __syncthreads(); /* all read what thread 0 has written */

    if (thread < seq_len)
        outputs[row + thread] = thread > 0 ? sums[thread] * c + x : x;
}

extern "C" cudaError_t launch_mend(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    mend<<<num_seqs, (seq_len + 31) / 32 * 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
