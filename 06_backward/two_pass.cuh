/* two_pass.cuh - the second pass of the textbook's way: d_coeffs from outputs and the finished d_inputs. */
#ifndef TWO_PASS_CUH
#define TWO_PASS_CUH

#include <stddef.h>

/* One thread an element; it looks one element back in the direction of the pass (`reverse` is the pass's). The grid
   takes as many steps as it needs. */
static __global__ void d_coeffs_only(size_t count, size_t seq_len, bool reverse, const float *__restrict__ outputs,
                                     const float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const size_t pos = i % seq_len;
        if (pos == (reverse ? seq_len - 1 : 0))
            d_coeffs[i] = 0.0f;
        else
            d_coeffs[i] = outputs[reverse ? i + 1 : i - 1] * d_inputs[i];
    }
}

#endif
