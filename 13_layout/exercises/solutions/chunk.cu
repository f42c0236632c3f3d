/* SPDX-License-Identifier: MIT */
/* 13.3  What a chunk does */
#include <cuda_runtime.h>

enum { WARPS = 4, STEPS = 8, CHUNK = WARPS * STEPS };

static __global__ void __launch_bounds__(32 * WARPS)
    aggregate(int seq_len, int channels, int chunks, const float *__restrict__ inputs, const float *__restrict__ coeffs,
              float *__restrict__ products, float *__restrict__ sums)
{
    __shared__ float all_products[WARPS][32], all_sums[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.y * 32 + lane;
    const size_t seq = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
    const bool is_there = channel < channels;

    float product = 1.0f, sum = 0.0f;
    for (int i = 0; i < STEPS; i++) {
        const int t = chunk * CHUNK + warp * STEPS + i;
        if (is_there && t < seq_len) {
            const size_t at = (seq * seq_len + t) * channels + channel;
            const float c = coeffs[at];
            product *= c;
            sum = sum * c + inputs[at];
        }
    }

    all_products[warp][lane] = product;
    all_sums[warp][lane] = sum;
    __syncthreads();
    float before = 1.0f, state = 0.0f;
    for (int w = 0; w < warp; w++) {
        before *= all_products[w][lane];
        state = state * all_products[w][lane] + all_sums[w][lane];
    }
    sum = state * product + sum;
    product *= before;

    if (is_there) {
        const size_t to = ((size_t)blockIdx.x * WARPS + warp) * channels + channel;
        products[to] = product;
        sums[to] = sum;
    }
}

extern "C" cudaError_t launch_chunk(int batch, int seq_len, int channels, const float *inputs, const float *coeffs,
                                    float *products, float *sums)
{
    const int chunks = (seq_len + CHUNK - 1) / CHUNK;
    if (batch == 0 || chunks == 0 || channels == 0)
        return cudaSuccess;
    const dim3 blocks(batch * chunks, (channels + 31) / 32);
    aggregate<<<blocks, 32 * WARPS>>>(seq_len, channels, chunks, inputs, coeffs, products, sums);
    return cudaGetLastError();
}
