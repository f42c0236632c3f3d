/* SPDX-License-Identifier: MIT */
/* 07.2  Read everything, write next to nothing

   How fast can the chip read, if it need not write? A baseline for that computes the sum of each row:

       sums[s] = values[s][0] + values[s][1] + ... + values[s][seq_len - 1]

   A warp takes a row. Its lanes walk over it side by side, 32 elements in a step, and each lane adds up what it loads.
   Then the lanes' sums are added up by shuffles, in five steps, and one lane stores the result.

       step       0            1            2
       lanes  |0 1 ... 31| |0 1 ... 31| |0 1 ... 9|           a row of 74 elements

   Goal: each element is loaded once, with 4 sectors for each request of whole steps (16, if you load float4s); 5
   shuffles for a warp; one store for each row; a block of 4 warps takes 4 rows. Rows are of any length; an empty row
   has the sum 0.

   Write where it says "here". */
#include <cuda_runtime.h>

static __global__ void sums_of_rows(int num_seqs, int seq_len, const float *__restrict__ values,
                                    float *__restrict__ sums)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= num_seqs)
        return; /* the whole warp does */

    float sum = 0.0f;
    (void)values, (void)seq_len; /* here: the lane's own sum, then that of the warp */
    if (lane == 0)
        sums[row] = sum;
}

extern "C" cudaError_t launch_sums(int num_seqs, int seq_len, const float *values, float *sums)
{
    if (num_seqs == 0)
        return cudaSuccess;
    sums_of_rows<<<(num_seqs + 3) / 4, 128>>>(num_seqs, seq_len, values, sums);
    return cudaGetLastError();
}
