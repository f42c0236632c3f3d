/* SPDX-License-Identifier: MIT */
/* 02.7  Mixed lengths */
#include <cuda_runtime.h>

enum { THREADS = 128 };

static __global__ void sort_by_length(int num_seqs, const int *__restrict__ offsets, int *__restrict__ order)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    const int length = offsets[seq + 1] - offsets[seq];
    int place = 0;
    for (int other = 0; other < num_seqs; other++) {
        const int its_length = offsets[other + 1] - offsets[other];
        if (its_length > length || (its_length == length && other < seq)) /* each place is taken once */
            place++;
    }
    order[place] = seq;
}

static __global__ void packed(int num_seqs, const int *__restrict__ offsets, const int *__restrict__ order,
                              const float *__restrict__ inputs, const float *__restrict__ coeffs,
                              float *__restrict__ outputs)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= num_seqs)
        return;
    const int seq = order[thread], begin = offsets[seq], end = offsets[seq + 1];
    float y = 0.0f;
    for (int i = begin; i < end; i++) {
        y = i == begin ? inputs[i] : y * coeffs[i] + inputs[i];
        outputs[i] = y;
    }
}

extern "C" cudaError_t launch_mixed(int num_seqs, const int *offsets, const float *inputs, const float *coeffs,
                                    float *outputs, int *order)
{
    const int blocks = (num_seqs + THREADS - 1) / THREADS;
    if (num_seqs == 0)
        return cudaSuccess;
    sort_by_length<<<blocks, THREADS>>>(num_seqs, offsets, order);
    packed<<<blocks, THREADS>>>(num_seqs, offsets, order, inputs, coeffs, outputs);
    return cudaGetLastError();
}
