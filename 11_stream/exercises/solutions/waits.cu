/* SPDX-License-Identifier: MIT */
/* 11.2  The missing waits */
#include <cuda_runtime.h>

#include "streams.h"

static __global__ void scan_one(size_t seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    float y = inputs[0];
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t scan_pieces(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                   float *outputs, struct slot *slots, cudaStream_t in, cudaStream_t kernel,
                                   cudaStream_t out)
{
    const size_t bytes = seq_len * sizeof(float);

    for (size_t p = 0; p < num_seqs; p++) {
        struct slot *const slot = &slots[p % 2];
        const size_t at = p * seq_len;

        cudaStreamWaitEvent(in, slot->computed, 0);
        cudaMemcpyAsync(slot->in[0], inputs + at, bytes, cudaMemcpyHostToDevice, in);
        cudaMemcpyAsync(slot->in[1], coeffs + at, bytes, cudaMemcpyHostToDevice, in);
        cudaEventRecord(slot->filled, in);

        cudaStreamWaitEvent(kernel, slot->filled, 0);
        cudaStreamWaitEvent(kernel, slot->emptied, 0);
        scan_one<<<1, 1, 0, kernel>>>(seq_len, slot->in[0], slot->in[1], slot->out[0]);
        cudaEventRecord(slot->computed, kernel);

        cudaStreamWaitEvent(out, slot->computed, 0);
        cudaMemcpyAsync(outputs + at, slot->out[0], bytes, cudaMemcpyDeviceToHost, out);
        cudaEventRecord(slot->emptied, out);
    }
    cudaStreamSynchronize(out);
    return cudaGetLastError();
}
