/* SPDX-License-Identifier: MIT */
/* 06.5  The same bits

   All sequences share their coefficients, one for each position. Given outputs and d_inputs of all sequences, the
   gradient of a coefficient is the sum down a column:

       d_coeffs[l] = sum over all sequences s of outputs[s][l-1] * d_inputs[s][l],     d_coeffs[0] = 0

   This kernel adds each product by an atomic. Its results are right, but their last bits depend on which thread comes
   first. Let them always be the same, with no atomic at all:

       1. a block has the part of 64 sequences and 32 columns. Its warps share the 64 rows, and each lane has a column
          of its own. Then the warps' sums become one for each column, and the block stores it in `partial`:

              partial      columns 0 ... 31 | 32 ... 63 | ...
              rows 0-63         block (0,0) |     (1,0) |        partial: (number of parts, seq_len); there is room
              rows 64-127             (0,1) |     (1,1) |        for num_seqs * seq_len numbers

       2. a second kernel adds up the parts of each column, in their order.

   Goal: no atomic, 15.7 loads of a warp for 256 sequences of 128 elements (of eight warps of a block each loads eight
   rows of two arrays), and nothing loaded twice.

   Write where it says "here". num_seqs and seq_len may be any numbers. */
#include <cuda_runtime.h>

enum { COLUMNS = 32, ROWS = 64, WARPS = 8, THREADS = 128 };

static __global__ void clear(int seq_len, float *d_coeffs)
{
    const int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l < seq_len)
        d_coeffs[l] = 0.0f;
}

/* here: the sums of a block's part */
static __global__ void add_all(int num_seqs, int seq_len, const float *__restrict__ outputs,
                               const float *__restrict__ d_inputs, float *d_coeffs)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int l = blockIdx.x * COLUMNS + lane, first = blockIdx.y * ROWS;
    for (int row = warp; row < ROWS && first + row < num_seqs; row += WARPS) {
        const size_t i = (size_t)(first + row) * seq_len + l;
        if (l > 0 && l < seq_len)
            atomicAdd(&d_coeffs[l], outputs[i - 1] * d_inputs[i]);
    }
}

/* here: the sum of all parts, for each column */

extern "C" cudaError_t launch_same_bits(int num_seqs, int seq_len, const float *outputs, const float *d_inputs,
                                        float *partial, float *d_coeffs)
{
    const int parts = (num_seqs + ROWS - 1) / ROWS;
    const dim3 blocks((seq_len + COLUMNS - 1) / COLUMNS, parts);

    if (seq_len == 0)
        return cudaSuccess;
    clear<<<(seq_len + THREADS - 1) / THREADS, THREADS>>>(seq_len, d_coeffs); /* here */
    if (parts > 0)
        add_all<<<blocks, 32 * WARPS>>>(num_seqs, seq_len, outputs, d_inputs, d_coeffs);
    (void)partial;
    return cudaGetLastError();
}
