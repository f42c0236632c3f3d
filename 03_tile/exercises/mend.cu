/* SPDX-License-Identifier: MIT */
/* 03.3  Right by luck

   The recurrence: a block for each sequence, up to 1024 elements, one for each thread, and thread 0 walks over them all
   in shared memory. (With one element a thread this is no good way, but it is a short one.) The block consists of whole
   warps; threads without an element hold the neutral pair (1, 0).

   On a GPU this kernel often gives the right results. It has three mistakes all the same, each of them of a kind that
   the text warns of.

   Goal: none of the three is left, and there are two barriers.

   Mend it. The judge tells one mistake at a time. */
#include <cuda_runtime.h>

static __global__ void mend(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    __shared__ float products[1024], sums[1024];
    const int thread = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * seq_len;

    if (thread >= seq_len)
        return;
    const float x = inputs[row + thread];
    const float c = thread > 0 ? coeffs[row + thread] : 1.0f; /* nothing comes before the first */

    products[thread] = c;
    sums[thread] = x;
    if (thread == 0) {
        float carry = sums[0];
        for (int i = 1; i < (int)blockDim.x; i++) {
            const float out = carry * products[i] + sums[i];
            sums[i] = carry; /* what comes into thread i takes the place of its sum */
            carry = out;
        }
    }

    outputs[row + thread] = thread > 0 ? sums[thread] * c + x : x;
}

extern "C" cudaError_t launch_mend(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    mend<<<num_seqs, (seq_len + 31) / 32 * 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
