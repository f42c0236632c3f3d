// right
// SPDX-License-Identifier: MIT
// Floats of 8 bits: rounded to even, the least and the largest, what is too large.
#include <cuda_fp8.h>

#include "corpus.h"

__global__ void kernel(float *x, float large, float none)
{
    const bool e4m3 = (float)__nv_fp8_e4m3(1.0625f) == 1.0f && (float)__nv_fp8_e4m3(1.1875f) == 1.25f &&
                      (float)__nv_fp8_e4m3(464.0f) == 448 && (float)__nv_fp8_e4m3(-large) == -448 &&
                      (float)__nv_fp8_e4m3(0x1p-9f) == 0x1p-9f && (float)__nv_fp8_e4m3(0x1p-10f) == 0 &&
                      __nv_fp8_e4m3(none).__x == 0x7f && __nv_fp8_e4m3(-0.0f).__x == 0x80 &&
                      __nv_fp8_e4m3(3).__x == 0x44;
    const bool e5m2 = (float)__nv_fp8_e5m2(57345.0f) == 57344 && (float)__nv_fp8_e5m2(1.125f) == 1 &&
                      (float)__nv_fp8_e5m2(0x1p-16f) == 0x1p-16f;
    const bool kept = __nv_cvt_float_to_fp8(large, __NV_NOSAT, __NV_E5M2) == 0x7c &&
                      __nv_cvt_float_to_fp8(-large, __NV_NOSAT, __NV_E4M3) == 0xff;
    const float2 two = (float2)__nv_fp8x2_e4m3(make_float2(1, -2));
    x[threadIdx.x] = x[threadIdx.x] * -two.y + (float)(e4m3 + 2 * e5m2 + 4 * kept);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 1e6f, NAN);
    return finish(x, 2, 7);
}
