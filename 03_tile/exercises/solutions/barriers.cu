/* SPDX-License-Identifier: MIT */
/* 03.5  The fewest barriers */
#include <cuda_runtime.h>

enum { elems = 4 }; /* of a thread, at most */

static __global__ void __launch_bounds__(1024) barriers(int seq_len, const float *__restrict__ inputs,
                                                        const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    float x[elems], c[elems];

    const int thread = threadIdx.x, num_threads = blockDim.x;
    const int size = seq_len / num_threads, longer = seq_len % num_threads; /* `longer` threads have one element more */
    const int count = size + (thread < longer);
    const int begin = thread * size + (thread < longer ? thread : longer);
    const size_t row = (size_t)blockIdx.x * seq_len;

#pragma unroll
    for (int i = 0; i < elems; i++) {
        x[i] = i < count ? inputs[row + begin + i] : 0.0f;
        c[i] = i < count && begin + i > 0 ? coeffs[row + begin + i] : 1.0f;
    }
#pragma unroll
    for (int i = 1; i < elems; i++) {
        x[i] = x[i - 1] * c[i] + x[i];
        c[i] = c[i - 1] * c[i];
    }

    /* Two places for each pair, used in turns. Who writes into a half again has passed the barrier of the step between,
       and all others came to that one only after they had read what stood in the half before. */
    __shared__ float products[2][1024], sums[2][1024];
    float product = c[elems - 1], sum = x[elems - 1];
    int half = 0;
    for (int d = 1; d < num_threads; d *= 2) {
        products[half][thread] = product;
        sums[half][thread] = sum;
        __syncthreads();
        if (thread >= d) {
            sum = sums[half][thread - d] * product + sum;
            product = products[half][thread - d] * product;
        }
        half = 1 - half;
    }
    sums[half][thread] = sum;
    __syncthreads();
    const float into = thread > 0 ? sums[half][thread - 1] : 0.0f;

    if (thread > 0) {
#pragma unroll
        for (int i = 0; i < elems; i++)
            x[i] = into * c[i] + x[i];
    }
#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

/* Rows of up to 4096 elements. */
extern "C" cudaError_t launch_barriers(int num_seqs, int seq_len, const float *inputs, const float *coeffs,
                                       float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    barriers<<<num_seqs, (seq_len + 32 * elems - 1) / (32 * elems) * 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
