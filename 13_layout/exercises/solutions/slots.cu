/* SPDX-License-Identifier: MIT */
/* 13.5  A step with slots */
#include <cuda_runtime.h>

/* A thread for each channel of a row. */
static __global__ void step(int rows, int channels, const int *__restrict__ slots, const float *__restrict__ x,
                            const float *__restrict__ c, float *__restrict__ states, float *__restrict__ y)
{
    const int row = blockIdx.x, channel = blockIdx.y * blockDim.x + threadIdx.x;
    if (row >= rows || channel >= channels)
        return;
    const int slot = slots[row];
    if (slot < 0)
        return;
    const size_t at = (size_t)row * channels + channel;
    const size_t own = (size_t)slot * channels + channel;
    const float state = c[at] * states[own] + x[at];
    states[own] = state;
    y[at] = state;
}

extern "C" cudaError_t launch_slots(int rows, int channels, const int *slots, const float *x, const float *c,
                                    float *states, float *y)
{
    if (rows == 0 || channels == 0)
        return cudaSuccess;
    const dim3 blocks(rows, (channels + 127) / 128);
    step<<<blocks, 128>>>(rows, channels, slots, x, c, states, y);
    return cudaGetLastError();
}
