/* SPDX-License-Identifier: MIT */
/* 03.2  One exchange */
#include <cuda_runtime.h>

static __global__ void step(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    __shared__ float x[1024];
    const int l = threadIdx.x;
    inputs += (size_t)blockIdx.x * seq_len;
    coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;

    const float own = l < seq_len ? inputs[l] : 0.0f;
    const float c = l > 0 && l < seq_len ? coeffs[l] : 1.0f; /* asked for before anybody waits */
    x[l] = own;
    __syncthreads();
    if (l == 0)
        outputs[0] = own;
    else if (l < seq_len)
        outputs[l] = x[l - 1] * c + own;
}

extern "C" cudaError_t launch_step(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    step<<<num_seqs, (seq_len + 31) / 32 * 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
