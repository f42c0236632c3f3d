/* SPDX-License-Identifier: MIT */
/* 02.6  A whole program

   Until now the arrays were on the device when your code began. Here they are in memory of the host, and all that a
   program does with a GPU is yours:

       host      inputs, coeffs                                         outputs
                      |                                                    ^
                      | cudaMemcpy                                         | cudaMemcpy
                      v                                                    |
       device    d_inputs, d_coeffs  ---- kernel<<<blocks, threads>>> --> d_outputs
                 cudaMalloc                                                cudaFree

   Write the kernel, one thread for each sequence as in full_blocks, and the function that the judge calls. The arrays
   have the shape (num_seqs, seq_len). The first coefficient of a sequence is never used: it may be NaN.

   Any call may fail: another program may have taken the memory, or the device has gone. So look at what each call
   returns. A launch returns nothing: ask cudaGetLastError() whether it has begun. What goes wrong in a kernel that runs
   is returned by the next call that waits for it, cudaDeviceSynchronize() or cudaMemcpy(). When something has failed,
   do nothing more with the device than free what you have allocated, and return 1. (What cudaFree returns need not
   be looked at.)

   Goals: no call that fails unnoticed, and no memory left behind, whichever call fails. The judge has each of them fail
   in turn. */
#include <cuda_runtime.h>
#include <stdio.h>

/* outputs[l] = outputs[l - 1] * coeffs[l] + inputs[l] along each of num_seqs sequences of seq_len elements. Returns 0,
   or 1 if a call has failed; it may say on stderr which one. */
extern "C" int scan(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    /* here */
    return 0;
}
