/* SPDX-License-Identifier: MIT */
/* 02.7  Mixed lengths

   Sequences of mixed lengths lie one behind the other, and `offsets` says where each of them begins. Where the next one
   begins, it ends; there are num_seqs + 1 offsets. A sequence may be empty.

       offsets  0       3   4           10   12         4 sequences, of 3, 1, 6 and 2 elements
                |s0     |s1 |s2         |s3  |

   A thread walks a sequence, and thread t takes the t-th of the list `order`. A warp is busy until its longest sequence
   is done, so sequences of similar lengths should share a warp. Have the first kernel write the list: the longest
   sequence first, then the second longest, and so on. Each thread can find the place of one sequence: so many sequences
   are longer. And of those that are as long?

       lengths  3 1 6 2   ->   order  2 0 3 1

   Goal: 13.8 stores of a warp for 256 sequences of up to 64 elements, where the list as it is now makes 32.5. (Half of
   these warps are those of the first kernel, which store once.)

   Write where it says "here". */
#include <cuda_runtime.h>

enum { THREADS = 128 };

static __global__ void sort_by_length(int num_seqs, const int *__restrict__ offsets, int *__restrict__ order)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    order[seq] = seq; /* here */
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
