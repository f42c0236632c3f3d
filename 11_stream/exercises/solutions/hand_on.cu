/* SPDX-License-Identifier: MIT */
/* 11.3  Pieces that hand their states on */
#include <cuda_runtime.h>

#include "streams.h"

enum { LENGTH = 8 };

static __global__ void scan_piece(size_t num_seqs, size_t length, const float *inputs, const float *coeffs,
                                  float *outputs, const float *initial, float *final)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    const size_t row = seq * length;
    float y = initial != NULL ? initial[seq] * coeffs[row] + inputs[row] : inputs[row];
    outputs[row] = y;
    for (size_t l = 1; l < length; l++) {
        y = y * coeffs[row + l] + inputs[row + l];
        outputs[row + l] = y;
    }
    final[seq] = y;
}

extern "C" cudaError_t scan_long(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                 float *outputs, struct slot *slot, float *const *states, cudaStream_t stream)
{
    const size_t row = seq_len * sizeof(float); /* from a sequence to the next, in the host's memory */
    const unsigned blocks = (unsigned)((num_seqs + 31) / 32);

    for (size_t p = 0; p * LENGTH < seq_len; p++) {
        const size_t begin = p * LENGTH, length = seq_len - begin < LENGTH ? seq_len - begin : LENGTH;
        const size_t width = length * sizeof(float);

        cudaMemcpy2DAsync(slot->in[0], width, inputs + begin, row, width, num_seqs, cudaMemcpyHostToDevice, stream);
        cudaMemcpy2DAsync(slot->in[1], width, coeffs + begin, row, width, num_seqs, cudaMemcpyHostToDevice, stream);
        scan_piece<<<blocks, 32, 0, stream>>>(num_seqs, length, slot->in[0], slot->in[1], slot->out[0],
                                              p > 0 ? states[p % 2] : NULL, states[(p + 1) % 2]);
        cudaMemcpy2DAsync(outputs + begin, row, slot->out[0], width, width, num_seqs, cudaMemcpyDeviceToHost, stream);
    }
    cudaStreamSynchronize(stream);
    return cudaGetLastError();
}
