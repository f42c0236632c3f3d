/* SPDX-License-Identifier: MIT */
/* 10.3  Rank one

   Now a chunk also takes something off, along one direction. The state has 32 rows, and w and y are vectors of 32:

       h[k] = gamma[k] h[k-1] - w[k] p + h_local[k],      p = (y[k] . h[k-1]) / 32,    the state begins with 0

   p is a number for each column, a sum over all of its rows. So the columns are still independent, and the rows are not
   any more. A block has 32 columns, a lane each, and its four warps share the rows:

                  lane 0   1   2  ...  31
       warp 0      |   .   .   .        .      rows  0 ...  7       each thread has 8 rows of a column in registers,
       warp 1      |                           rows  8 ... 15       and knows a part of that column's p
       warp 2      |                           rows 16 ... 23
       warp 3      v                           rows 24 ... 31

   Let the warps tell each other their parts through shared memory, one number a thread.

   As it is, p is 0: this is the diagonal kernel.

   Goal: right, one barrier a chunk, and everything loaded once: 400 bytes for a column of a chunk, which are 32 of
   h_local, and for each of four warps 8 of w, 8 of y and a decay.

   Write where it says "here". */
#include <cuda_runtime.h>

enum { WARPS = 4, OWN = 8, ROWS = WARPS * OWN };

/* h_local, h_out: (chunks, ROWS, columns). gamma: (chunks). w, y: (chunks, ROWS). */
static __global__ void __launch_bounds__(32 * WARPS)
    rank_one(int chunks, int columns, const float *__restrict__ h_local, const float *__restrict__ gamma,
             const float *__restrict__ w, const float *__restrict__ y, float *__restrict__ h_out)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
    float h[OWN] = {};
    for (int k = 0; k < chunks; k++) {
        const size_t row = (size_t)k * ROWS + warp * OWN; /* the thread's first one */
        const float decay = gamma[k];

        float p = 0.0f; /* here */
        (void)w, (void)y, (void)p;

#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const size_t at = (row + i) * columns + column;
            h[i] = decay * h[i] + (column < columns ? h_local[at] : 0.0f); /* here, too */
            if (column < columns)
                h_out[at] = h[i];
        }
    }
}

extern "C" cudaError_t launch_rank_one(int chunks, int columns, const float *h_local, const float *gamma,
                                       const float *w, const float *y, float *h_out)
{
    if (chunks == 0 || columns == 0)
        return cudaSuccess;
    rank_one<<<(columns + 31) / 32, 32 * WARPS>>>(chunks, columns, h_local, gamma, w, y, h_out);
    return cudaGetLastError();
}
