/* SPDX-License-Identifier: MIT */
/* 10.3  Rank one */
#include <cuda_runtime.h>

enum { WARPS = 4, OWN = 8, ROWS = WARPS * OWN };

/* h_local, h_out: (chunks, ROWS, columns). gamma: (chunks). w, y: (chunks, ROWS). */
static __global__ void __launch_bounds__(32 * WARPS)
    rank_one(int chunks, int columns, const float *__restrict__ h_local, const float *__restrict__ gamma,
             const float *__restrict__ w, const float *__restrict__ y, float *__restrict__ h_out)
{
    __shared__ float parts[2][WARPS][32]; /* of this chunk, and of the one before */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
    float h[OWN] = {};
    for (int k = 0; k < chunks; k++) {
        const size_t row = (size_t)k * ROWS + warp * OWN; /* the thread's first one */
        const float decay = gamma[k];

        float part = 0.0f, p = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            part += y[row + i] * h[i];
        parts[k % 2][warp][lane] = part;
        __syncthreads();
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            p += parts[k % 2][other][lane];
        p *= 1.0f / ROWS;

#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const size_t at = (row + i) * columns + column;
            h[i] = decay * h[i] - w[row + i] * p + (column < columns ? h_local[at] : 0.0f);
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
