/* SPDX-License-Identifier: MIT */
/* 03.5  The fewest barriers

   This is the kernel of `shared' for up to 4 elements in each of up to 1024 threads, and it is right. In each step of
   its scan there are two barriers: the first one, so that a pair is read after it has been written, and the second one,
   so that it is overwritten only after it has been read.

       step d = 1      write | read      write | read      write | read
                           barrier   barrier

   Do without the second barrier, in every step.

   Goal: log2(T) + 1 barriers for T threads: 6 for 32, 9 for 256 and 11 for 1024. `shared' has 11, 17 and 21. And
   no bank conflict: keep products and sums in two arrays. The results must be the same bits in every order in which the
   warps may run.

   Change what is between the two lines that say "here". */
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

    /* from here */
    __shared__ float products[1024], sums[1024];
    float product = c[elems - 1], sum = x[elems - 1];
    for (int d = 1; d < num_threads; d *= 2) {
        products[thread] = product;
        sums[thread] = sum;
        __syncthreads();
        if (thread >= d) {
            sum = sums[thread - d] * product + sum;
            product = products[thread - d] * product;
        }
        __syncthreads();
    }
    sums[thread] = sum;
    __syncthreads();
    const float into = thread > 0 ? sums[thread - 1] : 0.0f;
    /* to here */

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
