// right
// SPDX-License-Identifier: MIT
// min and max of two integers: what is smaller than int is taken as one, signed and unsigned of one size as unsigned.
#include "corpus.h"

template <class T>
__device__ bool is_int(T)
{
    return false;
}
__device__ bool is_int(int)
{
    return true;
}

__global__ void kernel(float *x, short a, unsigned char b, char c, unsigned short d, bool e)
{
    const int i = (int)threadIdx.x;
    const unsigned far = 5;
    const bool right = is_int(min(a, a)) && is_int(min(b, b)) && is_int(max(c, d)) && is_int(min(e, e)) &&
                       is_int(max(a, i)) && min(a, c) == -7 && max(b, d) == 200 && min(-1, far) == 5 &&
                       max(far, a) > 100000 && max(far, far) == far && min(-1l, 1ul) == 1 && max(-1ll, 1ull) == ~0ull &&
                       min(1.0f, 2.0) == 1;
    x[i] *= (float)(right + min(d, b) - max(d, (unsigned short)200) + max(1.0f, 0.5f));
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, -7, 200, 3, 200, true);
    return finish(x, 2, 0);
}
