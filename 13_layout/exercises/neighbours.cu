/* SPDX-License-Identifier: MIT */
/* 13.2  Neighbours

   The recurrence in the layout of models, (batch, seq_len, channels): each channel of each sequence by itself.

       y[0] = x[0],   y[t] = c[t] y[t-1] + x[t]            c[0] is never used: it may be NaN

       sequence 0    step 0   | channel 0 | 1 | 2 | 3 | ...     row 0           the channels of a step are neighbours,
                     step 1   | channel 0 | 1 | 2 | 3 | ...     row 1           the next step of a channel lies
                     ...                                                        `channels` numbers further
       sequence 1    step 0   | channel 0 | 1 | 2 | 3 | ...     row seq_len     (outputs[r][k] in a message is row r)

   Below is what becomes of the warp scan of chapter 04, if only the indices are changed: a warp takes one channel, its
   32 lanes 32 steps of it. It is right, but what a lane wants lies `channels` numbers behind what its neighbour wants,
   and of each sector of 32 bytes that is asked for one float is used.

       now    lane 0 | step 0            lane 1 | step 1 ...        of channel 0

   Who should neighbours be in this layout? And what is left to combine then?

   Goal: 11.88 bytes moved for an element, that is, each sector once; no shuffle.

   Write the kernel and its launch anew. */
#include <cuda_runtime.h>

static __global__ void walk(size_t batch, size_t seq_len, size_t channels, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    /* here: whose channel is it, and where does it begin? */
    const size_t number = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (number >= batch * channels)
        return;
    const size_t first = number / channels * seq_len * channels + number % channels;

    /* here: the walk */
    float carry = 0.0f;
    for (size_t tile = 0; tile < seq_len; tile += 32) {
        const size_t t = tile + lane, i = first + t * channels;
        float product = 1.0f, sum = 0.0f;
        if (t < seq_len) {
            sum = inputs[i];
            if (t > 0)
                product = coeffs[i];
        }
        for (unsigned d = 1; d < 32; d *= 2) {
            const float sum_before = __shfl_up_sync(0xFFFFFFFF, sum, d);
            const float product_before = __shfl_up_sync(0xFFFFFFFF, product, d);
            if (lane >= d) {
                sum = sum_before * product + sum;
                product = product_before * product;
            }
        }
        if (tile > 0)
            sum = carry * product + sum;
        if (t < seq_len)
            outputs[i] = sum;
        carry = __shfl_sync(0xFFFFFFFF, sum, 31);
    }
}

extern "C" cudaError_t launch_neighbours(size_t batch, size_t seq_len, size_t channels, const float *inputs,
                                         const float *coeffs, float *outputs)
{
    if (batch == 0 || seq_len == 0 || channels == 0)
        return cudaSuccess;
    const size_t threads = 32 * batch * channels; /* here */
    walk<<<(unsigned)((threads + 127) / 128), 128>>>(batch, seq_len, channels, inputs, coeffs, outputs);
    return cudaGetLastError();
}
