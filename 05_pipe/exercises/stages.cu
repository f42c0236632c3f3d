/* SPDX-License-Identifier: MIT */
/* 05.4  Two stages

   This kernel copies each tile to shared memory by cp.async, waits for it, scans it and stores it, and then copies the
   next one. It is right, and while it scans nothing is on its way. Let it have two stages in place of one:

       now        copy 0 | scan 0 | copy 1 | scan 1 | copy 2 | scan 2

       then       copy 0 | copy 1          | copy 2          | copy 3
                         | scan 0          | scan 1          | scan 2

   To keep it short, the length is a multiple of 4 here, so no group of four is cut.

   Call a wait idle if none of the thread's copies is on its way any more when it ends: then memory rests until the next
   copy is started.

   Goal: one idle wait, that for the last tile; and no barrier more than there are tiles.

   Change the lines that say "here". The scan stays as it is. */
#include <cuda_runtime.h>

#include <cuda_pipeline.h>

#include "../../04_warp_scan/warp_scan.cuh"

enum { THREADS = 128, TILE = THREADS * 4 };

/* Starts the copies of the thread's groups of the tile at `base` into a stage; past the end of the sequence none. */
static __device__ __forceinline__ void send(const float *inputs, const float *coeffs, int base, int seq_len,
                                            float *stage)
{
    const int own = threadIdx.x * 4;
    if (base + own < seq_len) {
        __pipeline_memcpy_async(stage + own, inputs + base + own, 16);
        __pipeline_memcpy_async(stage + TILE + own, coeffs + base + own, 16);
    }
    __pipeline_commit();
}

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), seq_len a multiple of 4. */
static __global__ void __launch_bounds__(THREADS)
    stages(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    __shared__ __align__(16) float stage[1][2 * TILE]; /* here. In a stage lies a tile of x, then of c */
    __shared__ struct warp_totals totals[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = threadIdx.x * 4;
    float x[4] = {0.0f, 0.0f, 0.0f, 0.0f}, c[4] = {1.0f, 1.0f, 1.0f, 1.0f}, carry = 0.0f;
    int turn = 0;

    inputs += (size_t)blockIdx.x * seq_len, coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;
    /* here: which copies must be started before the first round? */
    for (int base = 0; base < seq_len; base += TILE) {
        /* here: which tile's copies are started now, into which stage? And which copies need not have come yet? */
        send(inputs, coeffs, base, seq_len, stage[0]);
        __pipeline_wait_prior(0);
        if (base + own < seq_len) {
            const float *const tile = stage[0]; /* here: where does this tile lie? */
            const float4 four = *(const float4 *)(tile + own), by = *(const float4 *)(tile + TILE + own);
            x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
            c[0] = base == 0 && own == 0 ? 1.0f : by.x, c[1] = by.y, c[2] = by.z, c[3] = by.w;
        }

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
        if (base + own < seq_len)
            *(float4 *)(outputs + base + own) = make_float4(x[0], x[1], x[2], x[3]);
    }
}

/* Sequences whose length is a multiple of 4, so that no group is cut. */
extern "C" cudaError_t launch_stages(int num_seqs, int seq_len, const float *inputs, const float *coeffs,
                                     float *outputs)
{
    if (seq_len % 4 != 0)
        return cudaErrorInvalidValue;
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    stages<<<num_seqs, THREADS>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
