/* low_rank_sums.cuh - the warps of low_rank_backward.cu that add up over the block's columns, from what those who compute
   have left in the stage. Four lanes have two rows, with 8 columns each; a warp has 16 rows:

       lane      0        1        2        3              d_gamma = sum of d_h t,  t = h - W p
       row 0   |........ ........ ........ ........|       d_W = -sum of e p',      e = gamma d_h
       row 8   |........ ........ ........ ........|       d_Y = -sum of h q'

   What a lane reads of p and q serves two rows. For four ranks at a time it has 16 sums of its columns. In two steps each
   of the four lanes gets a quarter of them for all columns: d_W or d_Y, of one row. */
#ifndef LOW_RANK_SUMS_CUH
#define LOW_RANK_SUMS_CUH

#include "low_rank_backward.cuh"

/* A lane's columns, first those at `side`, 0 or 4, then the other four: neighbours begin with different ones, so that
   they read from different banks. */
template <int type>
static __device__ __forceinline__ void read8(const char *from, int side, float x[8])
{
    read4<type>(from, side, x);
    read4<type>(from, side ^ 4, x + 4);
}

/* Four neighbours, as far as there are so many ranks, negated. */
static __device__ __forceinline__ void write_ranks(float *to, const float sum[4], int rank, int all)
{
    if (all % 4 == 0 && rank < all)
        *(float4 *)(to + rank) = make_float4(-sum[0], -sum[1], -sum[2], -sum[3]);
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (all % 4 != 0 && rank + c < all)
            to[rank + c] = -sum[c];
}

/* Of two numbers, which partners with different `upper` have, the first or the second one's sum. */
static __device__ __forceinline__ float give(bool upper, float first, float second, int partner)
{
    return (upper ? second : first) + __shfl_xor_sync(0xFFFFFFFFu, upper ? first : second, partner);
}

/* Two rows of a chunk, `row` and row + 8; all lanes of a warp call together. to: the chunk's d_W or d_Y, whichever is the
   lane's. Returns d_gamma of row + lane % 2 * 8. */
template <int storage>
static __device__ __forceinline__ float sum_rows(const struct low_rank_shape *shape, const char *stage, int row,
                                                 int stride, float *to)
{
    const int lane = threadIdx.x % 32, column = lane % 4 * 8, side = lane / 4 % 2 * 4, bytes = (int)stored_bytes(storage);
    const struct back_stage in = back_stage_of<storage>(shape);
    const unsigned of_warp = lane % 4 * back_p_stride(shape) * 4, at = row * stride + column;
    const char *const p = stage + in.p + of_warp, *const q = stage + in.q + of_warp;
    const int mine = row + lane % 2 * 8;
    float d[2][8], h[2][8], e[2][8], t[2][8], x[8], of_gamma[2] = {};
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float gamma = ((const float *)(stage + in.gamma))[row + i * 8];
        read8<FLOAT32>(stage + in.d + (at + i * 8 * stride) * 4, side, d[i]);
        read8<storage>(stage + in.h + (at + i * 8 * stride) * bytes, side, h[i]);
#pragma unroll
        for (int c = 0; c < 8; c++)
            e[i][c] = gamma * d[i][c], t[i][c] = h[i][c];
    }
#pragma unroll 1
    for (int rank = 0; rank < shape->padded; rank += 4) {
        float of_w[2][4] = {}, of_y[2][4] = {}, w[2][4], sum[4];
        read4<storage>(stage + in.w, row * shape->stride + rank, w[0]);
        read4<storage>(stage + in.w, (row + 8) * shape->stride + rank, w[1]);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            read8<FLOAT32>(p + (rank + r) * 32, side, x);
#pragma unroll
            for (int v = 0; v < 16; v++) {
                t[v / 8][v % 8] -= w[v / 8][r] * x[v % 8];
                of_w[v / 8][r] += e[v / 8][v % 8] * x[v % 8];
            }
            read8<FLOAT32>(q + (rank + r) * 32, side, x);
#pragma unroll
            for (int v = 0; v < 16; v++)
                of_y[v / 8][r] += h[v / 8][v % 8] * x[v % 8];
        }
#pragma unroll
        for (int r = 0; r < 4; r++)
            sum[r] = give(lane & 1, give(lane & 2, of_w[0][r], of_y[0][r], 2), give(lane & 2, of_w[1][r], of_y[1][r], 2), 1);
        if (mine < shape->dk)
            write_ranks(to + mine * shape->rank, sum, rank, shape->rank);
    }
#pragma unroll
    for (int v = 0; v < 16; v++)
        of_gamma[v / 8] += d[v / 8][v % 8] * t[v / 8][v % 8];
    const float sum = give(lane & 1, of_gamma[0], of_gamma[1], 1);
    return sum + __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
}

/* All chunks. parts: of the block's columns. */
template <int storage>
static __device__ __forceinline__ void sum_back(const struct low_rank_shape *shape, struct place place, char *memory,
                                                int stride, struct part_counts counts, float *parts)
{
    __shared__ float of_warps[LOW_RANK_SUMMING / 32];
    const int lane = threadIdx.x % 32, warp = (threadIdx.x - LOW_RANK_THREADS) / 32, first = warp * 16 + lane / 4;
    const bool alone = shape->stages == 1;
    struct ring ring = ring_of(shape, memory);
    if (!alone)
        meet_back();
    for (size_t k = shape->chunks; k-- > 0; ring_next(&ring)) {
        const size_t chunk = place.zero + k * shape->heads;
        float *const of_gamma = parts + 2 * counts.ranks + chunk * shape->decays;
        float all = 0.0f;
        if (alone)
            meet_back();
        meet_back();
        float *const to = parts + (lane / 2 % 2) * counts.ranks + chunk * shape->dk * shape->rank;
#pragma unroll 1
        for (int base = 0; base < shape->dk; base += LOW_RANK_SUMMING / 2) {
            const int mine = base + first + lane % 2 * 8;
            const float sum = sum_rows<storage>(shape, ring.stage, base + first, stride, to);
            if (shape->decays != 1 && lane % 4 < 2 && mine < shape->dk)
                of_gamma[mine] = sum;
            all += mine < shape->dk && lane % 4 < 2 ? sum : 0.0f;
        }
        if (shape->decays == 1) { /* over the rows, too */
            for (int apart = 16; apart > 0; apart /= 2)
                all += __shfl_xor_sync(0xFFFFFFFFu, all, apart);
            if (lane == 0)
                of_warps[warp] = all;
            named_barrier_sync(2, LOW_RANK_SUMMING);
            if (threadIdx.x == LOW_RANK_THREADS)
                *of_gamma = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
        }
        if (alone)
            meet_back();
    }
    if (!alone)
        meet_back();
}

#endif
