// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct wide {
    char3 a;
    double3 b;
    longlong4 c;
};

__global__ __launch_bounds__(N) void kernel(float *__restrict__ x)
{
    const double3 a = make_double3(1, 2, 3);
    const short3 b = make_short3(1, 2, 3);
    const ulonglong3 c = make_ulonglong3(1, 2, 3);
    const float1 d = make_float1(x[threadIdx.x]);
    const uint3 place = dim3(1, 2, 3);
    const bool good = a.z + b.z == 2.0 * (double)c.z && sizeof(uchar3) == 3 && sizeof(float3) == 12 &&
                      alignof(short4) == 8 && alignof(ushort2) == 4 && alignof(double2) == 16 && alignof(float3) == 4 &&
                      sizeof(wide) == 64 && place.z == 3 && warpSize == 32;
    x[threadIdx.x] = 2 * d.x + (float)good;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
