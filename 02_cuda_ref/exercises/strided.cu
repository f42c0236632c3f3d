/* SPDX-License-Identifier: MIT */
/* 02.2  Neighbours share sectors

   sum[i] = a[i] + b[i] again, with eight elements for each thread. The kernel below is right: thread t of the grid adds
   elements 8t to 8t + 7, one after the other. But look at what the lanes of a warp want at the same time, k = 0:

       lane 0                  lane 1                  lane 2
       |0 . . . . . . .|       |8 . . . . . . .|       |16 . . . . . . .|   a sector each, of which 4 bytes are used

   Let neighbouring lanes add neighbouring elements. Keep the blocks: each has 128 threads and adds 1024 elements in
   eight turns. The simplest is to let it have the same ones as now:

       k = 0   |t0 t1 t2 ... t127|
       k = 1                     |t0 t1 t2 ... t127|
       k = 2                                       |t0 t1 t2 ... t127|   and so on

   Goal: 4 sectors for each load and each store of a warp, with the same number of threads.

   Change what stands where it says "here". */
#include <cuda_runtime.h>

static __global__ void add_eight(int n, const float *a, const float *b, float *sum)
{
    for (int k = 0; k < 8; k++) {
        const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8 + k; /* here */
        if (i < n)
            sum[i] = a[i] + b[i];
    }
}

extern "C" cudaError_t launch_add_eight(int n, const float *a, const float *b, float *sum)
{
    const int threads = 128, elems = 8 * threads; /* elems: of a block */
    const int blocks = (n + elems - 1) / elems;

    if (n == 0)
        return cudaSuccess;
    add_eight<<<blocks, threads>>>(n, a, b, sum);
    return cudaGetLastError();
}
