/* SPDX-License-Identifier: MIT */
/* 04.4  A warp walks a long row */
#include <cuda_runtime.h>

#include "warp_scan.cuh"

static __global__ void walk(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    const int lane = threadIdx.x;
    inputs += (size_t)blockIdx.x * seq_len;
    coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;

    float carry = 0.0f;
    for (int begin = 0; begin < seq_len; begin += 32) {
        const int l = begin + lane;
        struct pair mine = {1.0f, 0.0f};
        if (l < seq_len)
            mine.sum = inputs[l];
        if (l < seq_len && l > 0)
            mine.product = coeffs[l];

        mine = warp_scan(mine, lane);
        float y = mine.sum;
        if (begin > 0) /* nothing comes into the first step: a carry of 0 would not do, because 0 * infinity is NaN */
            y = carry * mine.product + mine.sum;
        if (l < seq_len)
            outputs[l] = y;
        carry = __shfl_sync(ALL_LANES, y, 31);
    }
}

extern "C" cudaError_t launch_walk(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    walk<<<num_seqs, 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
