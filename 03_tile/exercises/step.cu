/* SPDX-License-Identifier: MIT */
/* 03.2  One exchange

   Every element is combined with the one before it: the step of distance 1 of the scan by doubling.

       outputs[0] = inputs[0],   outputs[l] = inputs[l-1] * coeffs[l] + inputs[l]          coeffs[0] may be NaN

   Block s has row s, and thread l has element l, so rows are no longer than 1024. The block consists of whole warps, so
   there may be threads without an element at its end. Thread l loads its own two numbers. What it needs of thread l - 1
   it gets through shared memory: write, barrier, read.

       thread     0       1       2       3
       x[]       x0      x1      x2      x3           __shared__
                    \       \       \
       takes               x0      x1      x2

   Goal: one barrier; no element of inputs or coeffs is loaded twice, so at most 8 bytes for each.

   Write where it says "here". */
#include <cuda_runtime.h>

static __global__ void step(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    __shared__ float x[1024];
    const int l = threadIdx.x;
    inputs += (size_t)blockIdx.x * seq_len;
    coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;

    x[l] = 0.0f; /* here: load, exchange, combine, store */
}

extern "C" cudaError_t launch_step(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    step<<<num_seqs, (seq_len + 31) / 32 * 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
