/* SPDX-License-Identifier: MIT */
/* 11.3  Pieces that hand their states on

   The sequences are longer than the device's memory. So they go through it in pieces of LENGTH elements of each, and
   the last piece may have fewer. The state in which one piece ends is the one in which the next begins:

       host      sequence 0   | piece 0 | piece 1 | piece 2 | 3 |        from a sequence to the next: seq_len elements
                 sequence 1   | piece 0 | piece 1 | piece 2 | 3 |
       slot      sequence 0   | piece   |                                from a sequence to the next: the piece's length
                 sequence 1   | piece   |
       states    one number for each sequence, twice: states[0] and states[1], on the device

   scan_piece is there, and so is the wait at the end. One stream is enough: what is in it comes one after the other.
   cudaMemcpy2DAsync copies rows:

       cudaMemcpy2DAsync(to, bytes from row to row there, from, bytes from row to row there, bytes of a row, rows,
                         cudaMemcpyHostToDevice, stream);

   Goal: the right results, for any length; the host waits once.

   Write where it says "here". slot->in[0], slot->in[1] and slot->out[0] have room for a piece. */
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

    /* here: piece after piece, with at most LENGTH elements of each sequence */
    (void)row, (void)blocks, (void)inputs, (void)coeffs, (void)outputs, (void)slot, (void)states, (void)scan_piece;

    cudaStreamSynchronize(stream);
    return cudaGetLastError();
}
