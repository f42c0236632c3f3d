/* SPDX-License-Identifier: MIT */
/* 02.1  A first kernel

   Add two arrays, element by element: sum[i] = a[i] + b[i] for i = 0 ... n - 1.

   Each thread adds one element. A block has 128 threads, and there are as many blocks as it takes. What differs from
   thread to thread are blockIdx.x, the number of its block, and threadIdx.x, its own number in the block:

       block 0                  block 1                  block 2, of n = 300
       |t0  t1  t2  ...  t127|  |t0  t1  t2  ...  t127|  |t0  t1  ...  t43  t44 ... t127|
         0   1   2        127    128 129 130        255   256 257       299  (no element)

   Goal: right for every n, with n threads, rounded up to a multiple of 128. Neighbouring threads add neighbouring
   elements: then each load and each store of a warp touches 4 sectors, which is a goal, too.

   Write where it says "here": three lines in all. */
#include <cuda_runtime.h>

static __global__ void add(int n, const float *a, const float *b, float *sum)
{
    /* here: which element is this thread's? Is there such an element? Then add it. */
}

extern "C" cudaError_t launch_add(int n, const float *a, const float *b, float *sum)
{
    const int threads = 128;
    const int blocks = 1; /* here: as many as n elements take */

    if (n == 0)
        return cudaSuccess; /* a launch of no blocks is an error */
    add<<<blocks, threads>>>(n, a, b, sum);
    return cudaGetLastError();
}
