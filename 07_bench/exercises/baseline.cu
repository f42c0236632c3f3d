/* SPDX-License-Identifier: MIT */
/* 07.1  A baseline

   The gradients read three arrays and write two. How fast could that go at best? Write the kernel that answers it: it
   moves the same bytes as the gradients do, and computes next to nothing, so that no thread waits for another one.

       ab[i] = a[i] + b[i],   bc[i] = b[i] + c[i]                      i = 0 ... n - 1

   A baseline must be as fast as the chip allows, or everything looks good beside it. So each thread takes four
   neighbouring elements of each array, a float4, and b only once. All arrays begin at multiples of 16 bytes; n is any
   number, so the last thread may have fewer than four elements.

       thread 0       thread 1       thread 2            n = 10
       |a0 a1 a2 a3|  |a4 a5 a6 a7|  |a8 a9|             one float4 each, but the last thread one float after the other

   Goal: 12 bytes loaded and 8 stored for each element, 20 moved, so no sector is asked for twice; two stores for each
   warp; and a thread for every four elements, rounded up to whole blocks of 256.

   Write where it says "here". */
#include <cuda_runtime.h>

static __global__ void baseline(size_t n, const float *__restrict__ a, const float *__restrict__ b,
                                const float *__restrict__ c, float *__restrict__ ab, float *__restrict__ bc)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; /* here: four elements for each thread */
    if (i < n) {
        ab[i] = a[i] + b[i];
        bc[i] = b[i] + c[i];
    }
}

extern "C" cudaError_t launch_baseline(size_t n, const float *a, const float *b, const float *c, float *ab, float *bc)
{
    const size_t threads = 256, blocks = (n + threads - 1) / threads; /* here */
    if (n == 0)
        return cudaSuccess;
    baseline<<<(unsigned)blocks, (unsigned)threads>>>(n, a, b, c, ab, bc);
    return cudaGetLastError();
}
