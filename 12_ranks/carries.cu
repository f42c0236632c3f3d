/* SPDX-License-Identifier: MIT */
/* carries.cu - what comes into a rank, found on its device: for the variant nccl. All ranks' aggregates lie there, and
   a thread joins those of one sequence that come before this rank. Neighbouring threads read neighbouring aggregates:

       all   | rank 0: sequence 0, 1, 2, ... | rank 1: 0, 1, 2, ... | ...      a thread goes down a column of these rows

   Only sums are joined: nothing comes into the first rank, so nobody asks for the product of all. */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "aggregates.h"

enum { THREADS = 128 };

static __global__ void __launch_bounds__(THREADS)
    join_ranks(unsigned before, size_t num_seqs, const struct aggregate *__restrict__ all, float *__restrict__ carries)
{
    const size_t seq = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (seq >= num_seqs)
        return;
    float carry = all[seq].sum;
    for (unsigned rank = 1; rank < before; rank++) {
        const struct aggregate next = all[rank * num_seqs + seq];
        carry = carry * next.product + next.sum;
    }
    carries[seq] = carry;
}

extern "C" cudaError_t carries_launch(int before, size_t num_seqs, const struct aggregate *all, float *carries,
                                      cudaStream_t stream)
{
    const size_t blocks = (num_seqs + THREADS - 1) / THREADS;
    if (before < 1 || blocks == 0 || blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t config = launch_of(blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&config, join_ranks, (unsigned)before, num_seqs, all, carries);
}
