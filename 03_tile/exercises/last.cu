/* SPDX-License-Identifier: MIT */
/* 03.4  The last output

   Sometimes only the last output of a sequence is wanted: y[L-1] of y[l] = y[l-1] * c[l] + x[l]. Then no scan is
   needed: neighbours are combined, then neighbours of these, until one pair is left. It says what the whole sequence
   does.

       thread     0    1    2    3    4    5    6    7
       at first   0    1    2    3    4    5    6    7          first and last element of the pair in its place
       d = 1     01        23        45        67
       d = 2     03                  47
       d = 4     07

   Block s has row s, and thread l has element l, so rows are no longer than 1024. The block consists of whole warps,
   not necessarily of a power of two of them; threads without an element hold the neutral pair (1, 0). A pair (product,
   sum) turns y into y * product + sum; the earlier one comes first:

       (product 1, sum 1) then (product 2, sum 2)  =  (product 1 * product 2,  sum 1 * product 2 + sum 2)

   Goal: one barrier for each step, 5 for 32 threads and 10 for 1024.

   Write where it says "here". */
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
        /* here: which threads combine their pair with which other one? Where does the barrier belong? */
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
