/* SPDX-License-Identifier: MIT */
/* 02.6  A whole program */
#include <cuda_runtime.h>
#include <stdio.h>

enum { THREADS = 128 };

static __global__ void scan_rows(size_t num_seqs, size_t seq_len, const float *__restrict__ inputs,
                                 const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    float y = inputs[0];
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" int scan(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    const size_t bytes = num_seqs * seq_len * sizeof(float);
    const unsigned blocks = (unsigned)((num_seqs + THREADS - 1) / THREADS);
    float *d_inputs = NULL, *d_coeffs = NULL, *d_outputs = NULL; /* cudaFree takes NULL, too */
    cudaError_t error;

    if (bytes == 0)
        return 0; /* a launch of no blocks is an error */
    if ((error = cudaMalloc(&d_inputs, bytes)) != cudaSuccess)
        goto done;
    if ((error = cudaMalloc(&d_coeffs, bytes)) != cudaSuccess)
        goto done;
    if ((error = cudaMalloc(&d_outputs, bytes)) != cudaSuccess)
        goto done;
    if ((error = cudaMemcpy(d_inputs, inputs, bytes, cudaMemcpyHostToDevice)) != cudaSuccess)
        goto done;
    if ((error = cudaMemcpy(d_coeffs, coeffs, bytes, cudaMemcpyHostToDevice)) != cudaSuccess)
        goto done;

    scan_rows<<<blocks, THREADS>>>(num_seqs, seq_len, d_inputs, d_coeffs, d_outputs);
    if ((error = cudaGetLastError()) != cudaSuccess) /* has it begun? */
        goto done;
    if ((error = cudaDeviceSynchronize()) != cudaSuccess) /* has it ended well? */
        goto done;
    error = cudaMemcpy(outputs, d_outputs, bytes, cudaMemcpyDeviceToHost);

done:
    cudaFree(d_inputs);
    cudaFree(d_coeffs);
    cudaFree(d_outputs);
    if (error != cudaSuccess)
        fprintf(stderr, "scan: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
