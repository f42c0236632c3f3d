/* SPDX-License-Identifier: MIT */
/* 05.3  A float4 for odd lengths

   This kernel is right for every length. Each thread has a group of four consecutive elements of a tile, but it
   loads them one by one, and stores them so, too. Let a whole group be one float4.

   A float4 must lie at a multiple of 16 bytes, the arrays do, and the sequences follow each other without a gap: one of
   an odd length makes the next one begin at an odd place. So let the first tile begin at the multiple of 16 bytes at or
   before the sequence. A position is then counted from there, and the sequence's own elements are [begin, end):

            begin                                             end
       |.  .  0  1 |2  3  4  5 |6  7  8  9 | ...  |    | L-2 L-1 .  . |
        `--group of thread 0

   A group that an edge cuts still moves element by element, and only what is the sequence's own. No thread reads or
   writes an element of another sequence. x and c stay in registers, which have no addresses: the compiler must know
   each index into them.

   Goal: 12 bytes moved for an element, where this kernel moves 48: three arrays, and each of their sectors once. Where
   the sequences begin at odd places, 12.1 bytes.

   Write between the lines that say "from here" and "to here", and change what says "here". The scan stays as it is. */
#include <cuda_runtime.h>

#include "../../04_warp_scan/warp_scan.cuh"

enum { THREADS = 128, TILE = THREADS * 4 };

/* from here: a group of four on its way in, and on its way out (do not include groups.cuh: write them yourself) */
static __device__ __forceinline__ void load4(const float *tile, int at, int first, int last, float otherwise,
                                             float *four)
{
    for (int i = 0; i < 4; i++)
        four[i] = at + i >= first && at + i < last ? tile[at + i] : otherwise;
}

static __device__ __forceinline__ void store4(float *tile, int at, int first, int last, const float *four)
{
    for (int i = 0; i < 4; i++)
        if (at + i >= first && at + i < last)
            tile[at + i] = four[i];
}
/* to here */

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(THREADS)
    odd(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = threadIdx.x * 4;
    const size_t start = (size_t)blockIdx.x * seq_len, origin = start; /* here: where the first tile begins */
    const int begin = (int)(start - origin), end = begin + seq_len;
    float x[4], c[4], carry = 0.0f;
    int turn = 0;

    for (int base = 0; base < end; base += TILE) {
        const int first = 0, last = end - base < TILE ? end - base : TILE; /* here: the sequence's in this tile */
        const size_t tile = origin + base;                                 /* where in the arrays the tile begins */
        load4(inputs + tile, own, first, last, 0.0f, x);
        load4(coeffs + tile, own, first, last, 1.0f, c);
        if (base == 0 && threadIdx.x == 0) /* here: the first coefficient is not used. Where is it now? */
            c[0] = 1.0f;

#pragma unroll
        for (int i = 1; i < 4; i++) { /* the scan, as it was */
            x[i] = x[i - 1] * c[i] + x[i];
            c[i] = c[i - 1] * c[i];
        }
        const struct pair mine = {c[3], x[3]};
        const struct pair up_to_here = warp_scan(mine, lane), before = lane_before(up_to_here, lane);
        if (lane == 31)
            totals[turn].product[warp] = up_to_here.product, totals[turn].sum[warp] = up_to_here.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], THREADS / 32, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, THREADS / 32 - 1);
        turn ^= 1;
        const float into = base == 0 && warp == 0 ? before.sum : into_warp * before.product + before.sum;
        if (base > 0 || threadIdx.x > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = into * c[i] + x[i];
        }
        store4(outputs + tile, own, first, last, x);
    }
}

extern "C" cudaError_t launch_odd(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    odd<<<num_seqs, THREADS>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
