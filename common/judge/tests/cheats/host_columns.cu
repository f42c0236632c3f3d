/* SPDX-License-Identifier: MIT */
/* host_columns - for 02.4: the host computes, and the kernel does nothing. */
#include <cuda_runtime.h>
#include <stdlib.h>

static __global__ void nothing(void)
{
}

extern "C" cudaError_t launch_columns(size_t seq_len, size_t num_seqs, const float *inputs, const float *coeffs,
                                      float *outputs)
{
    const size_t n = seq_len * num_seqs, bytes = n * sizeof(float);
    float *x = (float *)malloc(bytes + 1), *c = (float *)malloc(bytes + 1);

    if (n == 0)
        return cudaSuccess;
    cudaMemcpy(x, inputs, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(c, coeffs, bytes, cudaMemcpyDeviceToHost);
    for (size_t i = num_seqs; i < n; i++)
        x[i] += x[i - num_seqs] * c[i];
    nothing<<<1, 128>>>();
    cudaMemcpy(outputs, x, bytes, cudaMemcpyHostToDevice);
    free(x);
    free(c);
    return cudaGetLastError();
}
