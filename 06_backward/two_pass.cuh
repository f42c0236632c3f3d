/* two_pass.cuh - the second pass of the textbook's way: d_coeffs from outputs and the finished d_inputs. */
#ifndef TWO_PASS_CUH
#define TWO_PASS_CUH

#include <stddef.h>

enum { D_COEFFS_THREADS = 256, D_COEFFS_ELEMS = 4 };

/* A block takes 1024 elements, a thread every 256th of them, so that its loads are coalesced and four of each array are
   on their way at once. It looks one element back in the direction of the pass. One division a thread tells where in
   its sequence it begins; the further positions follow from that. `step`: 256 modulo seq_len. */
static __global__ void __launch_bounds__(D_COEFFS_THREADS)
    d_coeffs_only(size_t count, size_t seq_len, size_t step, bool reverse, const float *__restrict__ outputs,
                  const float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    size_t i = (size_t)blockIdx.x * D_COEFFS_THREADS * D_COEFFS_ELEMS + threadIdx.x;
    size_t pos = i % seq_len;
#pragma unroll
    for (int k = 0; k < D_COEFFS_ELEMS; k++) {
        const bool first = pos == (reverse ? seq_len - 1 : 0);
        if (i < count)
            d_coeffs[i] = first ? 0.0f : outputs[reverse ? i + 1 : i - 1] * d_inputs[i];
        i += D_COEFFS_THREADS;
        pos = pos + step < seq_len ? pos + step : pos + step - seq_len;
    }
}

#endif
