/* low_rank_sums.cuh - the warps of low_rank_backward.cu that add up over the block's columns. One has S = d_h p' and
   with it d_W and d_gamma, one d_Y = -h q'. A lane has two rows and four ranks at a time, which are 8 sums:

       row i       |.... .... .... ....|        4 columns of two rows, and of four rows of p: 6 loads
       row i + 32  |.... .... .... ....|        of 16 bytes for 32 multiply-adds                        */
#ifndef LOW_RANK_SUMS_CUH
#define LOW_RANK_SUMS_CUH

#include "low_rank.cuh"

static __device__ __forceinline__ float dot4(const float a[4], const float b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* sum[i][r] = sum over columns of the row's elements and of p's, for rows `row` and row + 32 and four ranks from `rank`
   on. The warps that compute have left p one behind the other, all ranks of a warp's columns. */
template <int type>
static __device__ __forceinline__ void sum_four(const char *rows, int row, const char *p, int rank, int padded,
                                                float (*sum)[4])
{
    float x[2][4], four[4];
#pragma unroll
    for (int v = 0; v < 8; v++)
        sum[v / 4][v % 4] = 0.0f;
#pragma unroll 4
    for (int column = 0; column < COLUMNS; column += 4) {
        const int warp = column / (SIDE * 2), at = (warp * padded + rank) * SIDE * 2 + column % (SIDE * 2);
        read4<type>(rows, row * X_STRIDE(type) + column, x[0]);
        read4<type>(rows, (row + 32) * X_STRIDE(type) + column, x[1]);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            read4<FLOAT32>(p, at + r * SIDE * 2, four);
            sum[0][r] += dot4(x[0], four);
            sum[1][r] += dot4(x[1], four);
        }
    }
}

/* The sum of d_h h over a row's columns. */
template <int storage>
static __device__ __forceinline__ float sum_row(const char *d, const char *h, int row)
{
    float of_d[4], of_h[4], sum = 0.0f;
#pragma unroll
    for (int column = 0; column < COLUMNS; column += 4) {
        read4<FLOAT32>(d, row * X_STRIDE(FLOAT32) + column, of_d);
        read4<storage>(h, row * X_STRIDE(storage) + column, of_h);
        sum += dot4(of_d, of_h);
    }
    return sum;
}

/* All chunks, from the last to the first. parts: of each slice d_gamma, then d_W and d_Y. */
template <int storage>
static __device__ __forceinline__ void sum_chunks(const struct low_rank_shape *shape, struct place place, char *memory,
                                                  struct part_counts counts, float *parts)
{
    const int lane = threadIdx.x % 32, padded = shape->padded, done = done_barrier(shape);
    const bool is_w = threadIdx.x < LOW_RANK_COMPUTING + 32;
    float *const mine = parts + blockIdx.x % shape->slices * (counts.decays + 2 * counts.ranks);
    struct ring ring = ring_of(shape, memory);
    for (size_t k = shape->chunks; k-- > 0; ring_next(&ring)) {
        const char *const here = ring.stage, *const d = here + shape->at.d, *const h = here + shape->at.states;
        const float *const gamma = (const float *)(here + shape->at.gamma);
        const size_t chunk = place.zero + k * shape->heads;
        float *const to = mine + counts.decays + (is_w ? 0 : counts.ranks) + chunk * shape->dk * shape->rank;
        float all = 0.0f;
        named_barrier_sync(done + ring.which, LOW_RANK_COMPUTING + LOW_RANK_SUMMING);
        for (int row = lane; row < shape->dk; row += 64) {
            float sum[2][4], w[4], of_gamma[2] = {};
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (is_w)
                    of_gamma[i] = sum_row<storage>(d, h, row + 32 * i);
            for (int r = 0; r < padded; r += 4) {
                if (is_w)
                    sum_four<FLOAT32>(d, row, here + shape->at.p, r, padded, sum);
                else
                    sum_four<storage>(h, row, here + shape->at.q, r, padded, sum);
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const int its = row + 32 * i;
                    if (is_w) {
                        read4<storage>(here + shape->at.w, its * shape->stride + r, w);
                        of_gamma[i] -= dot4(w, sum[i]);
                    }
                    const float factor = is_w ? -gamma[shape->decays == 1 ? 0 : its] : -1.0f;
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        if (its < shape->dk && r + c < shape->rank)
                            to[its * shape->rank + r + c] = factor * sum[i][c];
                }
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (is_w && shape->decays != 1 && row + 32 * i < shape->dk)
                    mine[chunk * shape->decays + row + 32 * i] = of_gamma[i];
            all += of_gamma[0] + of_gamma[1];
        }
        for (int apart = 16; apart > 0; apart /= 2)
            all += __shfl_xor_sync(0xFFFFFFFFu, all, apart);
        if (is_w && shape->decays == 1 && lane == 0)
            mine[chunk] = all;
        named_barrier_arrive(summed_barrier(shape) + ring.which, LOW_RANK_SUMMING + LOW_RANK_COPYING);
    }
}

#endif
