/* SPDX-License-Identifier: MIT */
/* 11.2  The missing waits

   A sequence at a time goes through the device: copied in, scanned, copied out. The three kinds of work have a stream
   each, and two slots take turns, so that a copy in, a kernel and a copy out can happen at the same time:

       in       | in 0 | in 1 | in 2 | in 3 |
       kernel          | k 0 |  k 1  | k 2  | k 3 |
       out                    | out 0 | out 1 | out 2 | out 3 |

   But nothing says what has to wait for what. Each slot has three events for that: `filled`, `computed` and `emptied`.
   Record each behind what it is named after, and let each stream wait before it touches what another one may still
   need, or has not made yet. An event that was never recorded holds nobody up.

   Goal: the right results, no race, and the host waits once. Of the 20 copies and kernels of 5 sequences at most 14
   come one after the other, in one stream or by an event.

   Write where it says "here". The memory of the host is pinned; slot->in[0], slot->in[1] and slot->out[0] are on the
   device, and have room for a sequence. */
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

        /* here and below: record and wait */
        cudaMemcpyAsync(slot->in[0], inputs + at, bytes, cudaMemcpyHostToDevice, in);
        cudaMemcpyAsync(slot->in[1], coeffs + at, bytes, cudaMemcpyHostToDevice, in);

        scan_one<<<1, 1, 0, kernel>>>(seq_len, slot->in[0], slot->in[1], slot->out[0]);

        cudaMemcpyAsync(outputs + at, slot->out[0], bytes, cudaMemcpyDeviceToHost, out);
    }
    /* and here: when may this function return? */
    return cudaGetLastError();
}
