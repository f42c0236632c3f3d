/* SPDX-License-Identifier: MIT */
/* 05.7  Beat float4 in 100 lines

   An open task: there is more than one good answer, and the class has a table of them.

   Below is float4, one row at a time: a block for each sequence, right for every length. At lengths like 4096 it moves
   the fewest bytes that will do, 12 for an element: x and c in, y out. At odd lengths it does not:

       sequences of     17      33      257     4097   elements
       float4           29.65   21.09   13.40   12.44  bytes moved for an element
       the fewest       12      12      12      12

   Memory moves in sectors of 32 bytes. Where a sequence ends inside a sector, the next one begins there, and two blocks
   ask for that sector. A group of four that an edge cuts moves element by element. And a tile that begins in the middle
   of a sector makes each of its requests touch one sector more:

       sector    |. . . . . . . .|. . . . . . . .|. . . . . . . .|
       sequence   0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 ...
       float4                                    ^ four requests for one sector

   Write a kernel, or several, that moves at most 12.1 bytes for an element at each of these lengths and is right for
   every length. flat (05_pipe/flat.cu) shows how sequences that lie side by side are scanned together and never joined.
   Which sequences must a warp take so that no sector is two warps'? Long sequences must not all be left to one thread
   or one warp: "steps that one thread takes" has a limit, too.

   The file may have at most 100 lines of code; empty ones and comments do not count, and what is longer than 120
   characters counts as two. You may include what is included here. */
#include <cuda_runtime.h>

#include "../../04_warp_scan/warp_scan.cuh"
#include "groups.cuh"

enum { THREADS = 128, TILE = THREADS * 4 };

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(THREADS)
    fewer(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = threadIdx.x * 4;
    const size_t start = (size_t)blockIdx.x * seq_len, origin = start & ~(size_t)3;
    const int begin = (int)(start - origin), end = begin + seq_len;
    float x[4], c[4], carry = 0.0f;
    int turn = 0;

    for (int base = 0; base < end; base += TILE) {
        const int first = base == 0 ? begin : 0, last = end - base < TILE ? end - base : TILE;
        const size_t tile = origin + base; /* where in the arrays the tile begins */
        load4(inputs + tile, own, first, last, 0.0f, x);
        load4(coeffs + tile, own, first, last, 1.0f, c);
#pragma unroll
        for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
            if (base == 0 && own + i == begin)
                c[i] = 1.0f;

#pragma unroll
        for (int i = 1; i < 4; i++) {
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

extern "C" cudaError_t launch_fewer(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    fewer<<<num_seqs, THREADS>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
