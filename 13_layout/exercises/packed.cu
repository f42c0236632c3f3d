/* SPDX-License-Identifier: MIT */
/* 13.4  Where a sequence begins

   Sequences of different lengths lie one behind the other: the arrays are (seq_len, channels), and sequence s has the
   steps starts[s] ... starts[s + 1] - 1, which may be none. starts[0] is 0, starts[num_seqs] is seq_len.

       starts     0              3  3       5                  three sequences, the second one empty
       step       0    1    2    3     4
       begins     *              *

   The warps do not look at the lengths. Each takes 16 steps of 32 channels, a lane for a channel, and begins with
   nothing; what comes from the steps before its own will be joined later, and is not your business here.

       y = x[t]                      in the first of the 16 steps, and where a sequence begins
       y = c[t] y + x[t]             elsewhere

   Now 0 is taken for c where a sequence begins. But 0 times NaN is NaN: one text that has gone wrong spoils its
   neighbours. And every lane searches for each of 16 steps, though all 32 lanes want to know the same. What could a
   lane do for the others? (__ballot_sync gives to all lanes a number whose bit k says whether a condition holds in lane
   k.)

   Goal: right; with 294 sequences 39 loads of a warp, not 179; and each thread has 16 steps.

   Change what stands where it says "here". */
#include <cuda_runtime.h>

enum { STEPS = 16 };

/* Whether a sequence begins at a step: a binary search for the first of the starts that is not below it. */
static __device__ __forceinline__ bool begins_at(const int *starts, int num_seqs, int step)
{
    int low = 0, high = num_seqs;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (starts[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < num_seqs && starts[low] == step;
}

static __global__ void __launch_bounds__(32)
    packed(int num_seqs, const int *__restrict__ starts, int seq_len, int channels, const float *__restrict__ inputs,
           const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int first = blockIdx.x * STEPS, channel = blockIdx.y * 32 + threadIdx.x;

    /* here: which of the steps begin a sequence? */

    float y = 0.0f;
    for (int i = 0; i < STEPS && first + i < seq_len && channel < channels; i++) {
        const size_t at = (size_t)(first + i) * channels + channel;
        const bool begins = i == 0 || begins_at(starts, num_seqs, first + i); /* here */
        const float c = begins ? 0.0f : coeffs[at];                           /* here */
        y = c * y + inputs[at];
        outputs[at] = y;
    }
}

extern "C" cudaError_t launch_packed(int num_seqs, const int *starts, int seq_len, int channels, const float *inputs,
                                     const float *coeffs, float *outputs)
{
    if (seq_len == 0 || channels == 0)
        return cudaSuccess;
    const dim3 blocks((seq_len + STEPS - 1) / STEPS, (channels + 31) / 32);
    packed<<<blocks, 32>>>(num_seqs, starts, seq_len, channels, inputs, coeffs, outputs);
    return cudaGetLastError();
}
