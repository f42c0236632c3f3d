/* SPDX-License-Identifier: MIT */
/* 04.2  A scan by shuffles, from nothing

   Rows of at most 32 elements, a warp for each: lane l has element l.

       outputs[0] = inputs[0],   outputs[l] = outputs[l-1] * coeffs[l] + inputs[l]         coeffs[0] may be NaN

   Write the inclusive scan yourself, without warp_scan.cuh. A lane's pair is at first {coeffs[l], inputs[l]}; in the
   step of distance d = 1, 2, 4, 8, 16 it joins the pair of lane l - d in front of its own:

       lane        0   1   2   3   4   5   6   7
       stands for  0   1   2   3   4   5   6   7
       d = 1       0  01  12  23  34  45  56  67         first and last element that the pair stands for
       d = 2       0  01  02  03  14  25  36  47
       d = 4       0  01  02  03  04  05  06  07         and so on

   __shfl_up_sync(0xFFFFFFFF, value, d) brings the value of lane l - d; all 32 lanes must call it.

   Goal: no barrier, no shared memory, nothing loaded twice, and nine shuffles for a warp. (Five steps of two shuffles
   are ten. Does anybody need the last one?)

   Write where it says "here". */
#include <cuda_runtime.h>

static __global__ void scan(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    const int lane = threadIdx.x;
    inputs += (size_t)blockIdx.x * seq_len;
    coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;

    float product = 1.0f, sum = 0.0f; /* the neutral pair: it changes nothing */
    if (lane < seq_len)
        sum = inputs[lane];
    if (lane < seq_len && lane > 0)
        product = coeffs[lane];

    /* here: the steps */

    if (lane < seq_len)
        outputs[lane] = sum * product; /* here, too: which of the two is the result? */
}

extern "C" cudaError_t launch_scan(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    scan<<<num_seqs, 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
