/* SPDX-License-Identifier: MIT */
/* 02.5  Wide stores */
#include <cuda_runtime.h>

static __global__ void wide(size_t num_seqs, size_t seq_len, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    if (seq_len % 4 == 0) {
        float y = inputs[0];
        for (size_t l = 0; l < seq_len; l += 4) {
            float4 out;
            if (l > 0) /* coeffs[0] is never used */
                y = y * coeffs[l] + inputs[l];
            out.x = y;
            out.y = y = y * coeffs[l + 1] + inputs[l + 1];
            out.z = y = y * coeffs[l + 2] + inputs[l + 2];
            out.w = y = y * coeffs[l + 3] + inputs[l + 3];
            *(float4 *)(outputs + l) = out;
        }
        return;
    }

    float y = inputs[0];
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t launch_wide(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                   float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    wide<<<(unsigned)((num_seqs + 127) / 128), 128>>>(num_seqs, seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
