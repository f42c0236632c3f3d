// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ static bool near(double is, double shall)
{
    return fabs(is - shall) <= 1e-6 * fabs(shall);
}

/* By what undoes them, and by their neighbours. */
__device__ static bool is_right(float x)
{
    const double p = (x + 0.5) / (N + 1);
    const float third = 1.0f / 3, product = __fmul_rz(third, x + 1);
    const clock_t before = clock();

    return near(normcdf(normcdfinv(p)), p) && near(erf(erfinv(p)), p) && near(erfc(erfcinv(p)), p) &&
           near(erfcxf(x / 64), exp(x / 64.0 * x / 64) * erfc(x / 64.0)) && near(normcdff(0), 0.5) &&
           near(norm3df(x + 1, 2, 2) * rnorm3df(x + 1, 2, 2), 1) && near(rhypotf(3, 4), 0.2f) && near(rcbrtf(8), 0.5) &&
           __fadd_ru(1, 1e-20f) > 1 && __fadd_rd(1, 1e-20f) == 1 && __fadd_rz(1, -1e-20f) < 1 &&
           product <= third * (x + 1) && (double)__fmul_rd(third, x + 1) <= (double)third * (x + 1) &&
           (double)__fmul_ru(third, x + 1) >= (double)third * (x + 1) && __double2int_rn(2.5) == 2 &&
           __float2uint_rz(-3.0f) == 0 && __float2int_rn(1e20f) == 2147483647 &&
           __hiloint2double(__double2hiint(p), __double2loint(p)) == p &&
           __byte_perm(0x03020100, 0x07060504, 0x5410) == 0x05040100 && __dp4a(0x01020304, 0x01010101, 5) == 15 &&
           __brevll(1) == 1ull << 63 && __sad(-2, 3, 1) == 6 && sinpi(x) == 0 &&
           cospif(x) == ((int)x % 2 == 0 ? 1.0f : -1.0f) && max(1, 2u) == 2 && min(1.0f, 0.5) == 0.5 &&
           clock() >= before;
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + (float)is_right(x[threadIdx.x]);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
