/* SPDX-License-Identifier: MIT */
/* copy_rows.cuh - the rows of a matrix in low_rank.cu, low_rank_backward.cu, mma.cu and wgmma.cu, from global memory to
   a stage by cp.async, and from a stage back. A copy moves a vector of 16, 8 or 4 bytes, whatever divides the length of
   a row; of 2 bytes, which cp.async does not take, through registers. The threads stand side by side in a row, and
   where a row is short, in several rows:

                    16 bytes  16 bytes  16 bytes  16 bytes
       row 0       | thread 0  thread 1  thread 2  thread 3       a thread's share: one vector of rows 0, 8, 16, ...
       row 1       | thread 4  thread 5  ...
       ...
       row 8       | thread 0  thread 1  ...                                                                       */
#ifndef COPY_ROWS_CUH
#define COPY_ROWS_CUH

#include <cuda_pipeline.h>

#include "../../common/cuda/cp_async.h"
#include "load_store.cuh"
#include "low_rank_plan.h"

/* A thread's share in the copies of a matrix: some vectors of a row, and the same of every few rows further. */
struct share {
    const char *from; /* its first vector, of the chunk that is copied next */
    size_t row;       /* bytes from row to row of its share */
    unsigned to, to_row;
    int rows, vectors, bytes, apart; /* in a row so many vectors of so many bytes; from one to the next */
};

/* Of `rows` rows of so many bytes, which 32, 64 or 128 threads copy by vectors. to: where the rows begin in a
   stage. They lie from_row and to_row bytes apart. */
static __device__ __forceinline__ struct share share_of(int thread, int threads, const void *from, size_t from_row,
                                                        unsigned to, unsigned to_row, int rows, int bytes, int vector)
{
    int wide = 0; /* 2^wide threads stand side by side in a row; divisions by variables take long */
    while (wide < 5 && vector << wide < bytes)
        wide++;
    const int step = __ffs(threads) - 1 - wide, wider = __ffs(vector) - 1 + wide; /* their logarithms, too */
    const int row = thread >> wide, at = (thread - (row << wide)) * vector;
    const struct share share = {(const char *)from + row * from_row + at,
                                from_row << step,
                                to + row * to_row + at,
                                to_row << step,
                                row < rows && at < bytes ? (rows - row + (1 << step) - 1) >> step : 0,
                                at < bytes ? (bytes - at + (1 << wider) - 1) >> wider : 0,
                                vector,
                                1 << wider};
    return share;
}

/* One vector of each row, the one that begins `at` bytes behind the thread's first. */
static __device__ __forceinline__ void share_copy_vectors(const struct share *share, char *stage, int at, int bytes)
{
    const char *from = share->from + at;
    char *to = stage + share->to + at;
#pragma unroll 4
    for (int row = 0; row < share->rows; row++) {
        __pipeline_memcpy_async(to, from, bytes);
        to += share->to_row, from += share->row;
    }
}

/* Elements of 16 bits from `from` to `to`, from_row and to_row bytes apart. Several are read before the first is
   written, so that their ways to the registers overlap. */
static __device__ __forceinline__ void elements_move(const char *from, size_t from_row, char *to, size_t to_row,
                                                     int rows)
{
    enum { BATCH = 8 };
#pragma unroll 1
    for (int row = 0; row < rows; row += BATCH, from += BATCH * from_row, to += BATCH * to_row) {
        unsigned short batch[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (row + i < rows)
                batch[i] = *(const unsigned short *)(from + i * from_row);
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (row + i < rows)
                *(unsigned short *)(to + i * to_row) = batch[i];
    }
}

template <int dtype>
static __device__ __forceinline__ void share_copy(const struct share *share, char *stage)
{
    if (share->bytes == 16) /* a warp has more lanes than a row has vectors */
        return share_copy_vectors(share, stage, 0, 16);
#pragma unroll 1
    for (int i = 0, at = 0; i < share->vectors; i++, at += share->apart)
        if (share->bytes == 8)
            share_copy_vectors(share, stage, at, 8);
        else if (share->bytes == 4)
            share_copy_vectors(share, stage, at, 4);
        else if (dtype != FLOAT32) /* cp.async takes four bytes at least */
            elements_move(share->from + at, share->row, stage + share->to + at, share->to_row, share->rows);
}

/* Zeros in their place. */
static __device__ __forceinline__ void share_clear(const struct share *share, char *stage)
{
#pragma unroll 1
    for (int i = 0; i < share->rows * share->vectors; i++) {
        char *const to = stage + share->to + i / share->vectors * share->to_row + i % share->vectors * share->apart;
        for (int b = 0; b < share->bytes; b += 2)
            *(unsigned short *)(to + b) = 0;
    }
}

/* The same vectors of a stage, to where the thread's first one belongs. Of a row a thread has one vector. */
template <int dtype>
static __device__ __forceinline__ void share_store(const struct share *share, const char *stage, char *to)
{
    const char *from = stage + share->to;
    if (share->bytes == 16) {
#pragma unroll 4
        for (int row = 0; row < share->rows; row++) {
            *(float4 *)to = *(const float4 *)from;
            from += share->to_row, to += share->row;
        }
        return;
    }
    if (dtype != FLOAT32 && share->bytes == 2)
        return elements_move(from, share->to_row, to, share->row, share->rows);
#pragma unroll 1
    for (int row = 0; row < share->rows; row++) {
        if (share->bytes == 8)
            *(float2 *)to = *(const float2 *)from;
        else
            *(float *)to = *(const float *)from;
        from += share->to_row, to += share->row;
    }
}

/* Spreads a matrix of rows that lie one behind the other to the rows of a stage; a warp does so, four elements of 16
   bits at a time. */
static __device__ __forceinline__ void spread_rows(const struct low_rank_plan *plan, const char *from, char *to)
{
    const int lane = threadIdx.x % 32, rank = plan->rank, count = plan->dk * rank;
    const int rows_on = 128 / rank, r_on = 128 % rank; /* from a lane's four elements to its next four */
    int row = lane * 4 / rank, r = lane * 4 % rank;
    __syncwarp(); /* what other lanes have waited for is there, too */
#pragma unroll 1
    for (int i = lane * 4; i < count; i += 128) {
        const uint2 four = *(const uint2 *)(from + i * 2);
        const unsigned pairs[2] = {four.x, four.y};
        char *at = to + (row * plan->stride + r) * 2;
        int left = rank - r; /* in this row */
#pragma unroll
        for (int j = 0; j < 4; j++, at += 2) {
            if (i + j < count)
                *(unsigned short *)at = (unsigned short)(pairs[j / 2] >> j % 2 * 16);
            if (--left == 0)
                left = rank, at += (plan->stride - rank) * 2;
        }
        row += rows_on, r += r_on;
        if (r >= rank)
            r -= rank, row++;
    }
}

/* The same for W or Y at `raw` of a stage, which the thread has waited for, unless it has come in rows at once. */
template <int dtype>
static __device__ __forceinline__ void matrix_spread(const struct low_rank_plan *plan, unsigned raw, unsigned rows,
                                                     char *stage)
{
    if (dtype != FLOAT32 && raw != rows)
        spread_rows(plan, stage + raw, stage + rows);
}

#endif
