/* SPDX-License-Identifier: MIT */
/* 13.3  What a chunk does

   Where there are few channels, time is cut into chunks. Before chunks can be joined, each has to know what it does to
   any state y that comes in. That is a pair for each channel:

       y  ->  product y + sum           product  of the coefficients
                                        sum      what leaves if 0 comes in

   In this layout neighbouring lanes have neighbouring channels. So four warps share a chunk like this, and lane k of
   one warp has the same channel as lane k of the others:

                  32 channels
       warp 0     8 steps      piece 0      wanted of each piece and channel: the pair of all steps of the chunk
       warp 1     8 steps      piece 1      up to the end of the piece, in products and sums. The pair of the last
       warp 2     8 steps      piece 2      piece is the chunk's.
       warp 3     8 steps      piece 3

   inputs and coeffs: (batch, seq_len, channels), 32 steps a chunk; the last chunk of a sequence may have fewer steps,
   and what is not there changes nothing. products and sums: (batch, chunks, 4, channels);
   products[17] in a message counts through all of these.

   Now one warp walks through all 32 steps: right, but whoever wants the end waits for 64 loads of one warp.

   Goal: four warps, 16 loads and 3 operations that others wait for (two stores, one barrier) of each; no shuffle: no
   lane needs what another lane of its warp has.

   Write where it says "here". Two pairs, (p, s) and then (q, r), are one: (p q, s q + r). */
#include <cuda_runtime.h>

enum { WARPS = 4, STEPS = 8, CHUNK = WARPS * STEPS };

static __global__ void __launch_bounds__(32) /* here: of all warps */
    aggregate(int seq_len, int channels, int chunks, const float *__restrict__ inputs, const float *__restrict__ coeffs,
              float *__restrict__ products, float *__restrict__ sums)
{
    const int lane = threadIdx.x % 32, channel = blockIdx.y * 32 + lane;
    const size_t seq = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
    const bool is_there = channel < channels;

    float product = 1.0f, sum = 0.0f;
    for (int piece = 0; piece < WARPS; piece++) { /* here: a warp has one */
        for (int i = 0; i < STEPS; i++) {
            const int t = chunk * CHUNK + piece * STEPS + i;
            if (is_there && t < seq_len) {
                const size_t at = (seq * seq_len + t) * channels + channel;
                const float c = coeffs[at];
                product *= c;
                sum = sum * c + inputs[at];
            }
        }

        /* here: what the warps before do, too */

        if (is_there) {
            const size_t to = ((size_t)blockIdx.x * WARPS + piece) * channels + channel;
            products[to] = product;
            sums[to] = sum;
        }
    }
}

extern "C" cudaError_t launch_chunk(int batch, int seq_len, int channels, const float *inputs, const float *coeffs,
                                    float *products, float *sums)
{
    const int chunks = (seq_len + CHUNK - 1) / CHUNK;
    if (batch == 0 || chunks == 0 || channels == 0)
        return cudaSuccess;
    const dim3 blocks(batch * chunks, (channels + 31) / 32);
    aggregate<<<blocks, 32>>>(seq_len, channels, chunks, inputs, coeffs, products, sums); /* here */
    return cudaGetLastError();
}
