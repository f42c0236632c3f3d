/* low_rank_backward.cuh - the sums of low_rank_backward.cu: over rows, and over columns.

   A block has COLUMNS columns of one head's state and all of its rows. A lane has a column, a warp 8 or 32 rows, so a
   thread has as many of its column in registers:

                  lane 0  1  2 ... 31
       warp 0      .      .  .      .      rows 0 ...  7           p[r] of a column, a sum over all rows, is
       warp 1      .      .  .      .      rows 8 ... 15           added up over a thread's rows, and then over
       ...                                                         the warps through shared memory              */
#ifndef LOW_RANK_BACKWARD_CUH
#define LOW_RANK_BACKWARD_CUH

#include "low_rank.cuh"

/* p = matrix^T h, (rank, COLUMNS) in shared memory, whose `parts` are (2, warps, RANKS, COLUMNS). matrix: in shared
   memory, its rank a multiple of 4, its rows `stride` apart and a multiple of `rows`, with zeros for what there is not.
   h: the thread's rows. Ends with a barrier: p is there for all. Before the next call there must be another one. */
template <int storage, int rows>
static __device__ __forceinline__ void project(const void *matrix, int stride, int rank, const float h[rows],
                                               float *both_parts, float *p)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32,
              first = warp * rows * stride;
    for (int base = 0, turn = 0; base < rank; base += RANKS, turn ^= 1) {
        float *const parts = both_parts + turn * num_warps * RANKS * COLUMNS, *const mine =
                                                                                  parts + warp * RANKS * COLUMNS;
        const int ranks = min(rank - base, (int)RANKS);
        for (int r = 0; r < ranks; r += 4) {
            float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f}, y[4];
#pragma unroll
            for (int i = 0; i < rows; i++) {
                read4<storage>(matrix, first + i * stride + base + r, y);
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sum[c] += y[c] * h[i];
            }
#pragma unroll
            for (int c = 0; c < 4; c++)
                mine[(r + c) * COLUMNS + lane] = sum[c];
        }
        __syncthreads(); /* the parts are there; those of the group before are read */
        for (int r = warp; r < ranks; r += num_warps) {
            float sum = parts[r * COLUMNS + lane];
            for (int w = 1; w < num_warps; w++)
                sum += parts[(w * RANKS + r) * COLUMNS + lane];
            p[(base + r) * COLUMNS + lane] = sum;
        }
    }
    __syncthreads();
}

/* h - matrix p for the thread's rows and the lane's column. */
template <int storage, int rows>
static __device__ __forceinline__ void subtract(const void *matrix, int stride, int rank, const float *p, float h[rows])
{
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * rows * stride;
    for (int r = 0; r < rank; r += 4) {
        float four[4], w[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            four[c] = p[(r + c) * COLUMNS + lane];
#pragma unroll
        for (int i = 0; i < rows; i++) {
            read4<storage>(matrix, first + i * stride + r, w);
#pragma unroll
            for (int c = 0; c < 4; c++)
                h[i] -= w[c] * four[c];
        }
    }
}

/* Lane l gets the sum of all lanes' v[l]: in each step a lane gives one half of what it has left to its partner. */
static __device__ __forceinline__ float warp_sums(float v[32], int lane)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
#pragma unroll
        for (int i = 0; i < 16; i++) {
            if (i >= d)
                continue;
            const float mine = lane & d ? v[i + d] : v[i], other = lane & d ? v[i] : v[i + d];
            v[i] = mine + __shfl_xor_sync(0xFFFFFFFFu, other, d);
        }
    return v[0];
}

/* -(x factors'), summed over the warp's columns: of the thread's rows and all ranks, to `to` (dk, rank). */
template <int rows>
static __device__ __forceinline__ void outer(const float x[rows], const float *factors, int padded, int rank, int left,
                                             float *to)
{
    const int lane = threadIdx.x % 32;
    for (int r = 0; r < padded; r += 4)
#pragma unroll
        for (int base = 0; base < rows; base += 8) { /* 8 rows and 4 ranks are 32 sums: one for each lane */
            float v[32];
#pragma unroll
            for (int i = 0; i < 32; i++)
                v[i] = -x[base + i / 4] * factors[(r + i % 4) * COLUMNS + lane];
            const float sum = warp_sums(v, lane);
            if (base + lane / 4 < left && r + lane % 4 < rank)
                to[(base + lane / 4) * rank + r + lane % 4] = sum;
        }
}

#endif
