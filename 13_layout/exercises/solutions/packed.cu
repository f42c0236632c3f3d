/* SPDX-License-Identifier: MIT */
/* 13.4  Where a sequence begins */
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
    const int lane = threadIdx.x, first = blockIdx.x * STEPS, channel = blockIdx.y * 32 + lane;

    /* lane i looks at step i, for all of them; lanes without a channel, too */
    const unsigned begins = __ballot_sync(0xFFFFFFFF, lane < STEPS && begins_at(starts, num_seqs, first + lane));

    float y = 0.0f;
    for (int i = 0; i < STEPS && first + i < seq_len && channel < channels; i++) {
        const size_t at = (size_t)(first + i) * channels + channel;
        if (i == 0 || (begins >> i & 1))
            y = inputs[at];
        else
            y = coeffs[at] * y + inputs[at];
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
