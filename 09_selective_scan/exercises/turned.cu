/* SPDX-License-Identifier: MIT */
/* 09.3  Turned without bank conflicts

   Memory wants lanes side by side in time: four lanes take 64 neighbouring bytes of one channel. The loop over time
   wants a lane for each channel. In between, the tile is transposed, or turned, in shared memory:

       32 channels x 16 steps          copied: lane = 4 row + piece, eight rows at a time       loop: lane = row
       row 0   |piece|piece|piece|piece|      lanes  0  1  2  3                                  lane 0
       row 1   |piece|piece|piece|piece|      lanes  4  5  6  7                                  lane 1
       ...      a piece is 4 steps, a float4                                                     ...

   Shared memory serves 16 bytes a lane in four wavefronts: lanes 0 to 7, 8 to 15, and so on. In one of them eight lanes
   want eight pieces, and 32 banks hold just eight, if no two of them lie in the same banks. The copies do that. But
   where do pieces 0 of rows 0, 1, 2, ..., 7 lie?

   Goal: no bank conflict at all, 16 sectors a load, and no place that stays empty: the tile fills its shared memory.
   (Every byte counts here. The more blocks fit on an SM, the more latency they hide.)

   Write where it says "here". seq_len is a multiple of 16. */
#include <cuda_runtime.h>
#include "../../common/cuda/fast_math.h"

#define LOG2_E 1.4426950408889634f

enum { CHANNELS = 32, STEPS = 16, PIECES = STEPS / 4 };

/* Where piece 0, 1, 2 or 3 of a row lies. */
static __device__ __forceinline__ int place(int row, int piece)
{
    return row * PIECES + piece; /* here */
}

/* h after one step, with A = -1/16. */
static __device__ __forceinline__ float through(float h, float u, float delta)
{
    return fast_exp2(fabsf(delta) * (-LOG2_E / 16)) * h + fabsf(delta) * u;
}

/* out: all h. u, delta, out: (channels, seq_len). Each block is a warp, and takes 32 channels. */
static __global__ void __launch_bounds__(32) turned(int channels, int seq_len, const float4 *__restrict__ u,
                                                    const float4 *__restrict__ delta, float4 *__restrict__ out)
{
    __shared__ float4 tile_u[CHANNELS * PIECES], tile_delta[CHANNELS * PIECES];
    const int lane = threadIdx.x, first = blockIdx.x * CHANNELS;
    float h = 0.0f;
    for (int at = 0; at < seq_len / 4; at += PIECES) { /* in pieces */
        for (int r = lane / PIECES; r < CHANNELS; r += 32 / PIECES)
            if (first + r < channels) {
                const size_t from = (size_t)(first + r) * (seq_len / 4) + at + lane % PIECES;
                tile_u[place(r, lane % PIECES)] = u[from];
                tile_delta[place(r, lane % PIECES)] = delta[from];
            }
        __syncwarp();

        for (int piece = 0; piece < PIECES && first + lane < channels; piece++) {
            const float4 x = tile_u[place(lane, piece)], d = tile_delta[place(lane, piece)];
            float4 y;
            y.x = through(h, x.x, d.x);
            y.y = through(y.x, x.y, d.y);
            y.z = through(y.y, x.z, d.z);
            y.w = h = through(y.z, x.w, d.w);
            tile_u[place(lane, piece)] = y;
        }
        __syncwarp();

        for (int r = lane / PIECES; r < CHANNELS; r += 32 / PIECES)
            if (first + r < channels)
                out[(size_t)(first + r) * (seq_len / 4) + at + lane % PIECES] = tile_u[place(r, lane % PIECES)];
    }
}

extern "C" cudaError_t launch_turned(int channels, int seq_len, const float *u, const float *delta, float *out)
{
    if (channels == 0)
        return cudaSuccess;
    turned<<<(channels + CHANNELS - 1) / CHANNELS, 32>>>(channels, seq_len, (const float4 *)u, (const float4 *)delta,
                                                         (float4 *)out);
    return cudaGetLastError();
}
