// right
// SPDX-License-Identifier: MIT
// code for one chip or another, as in programs that have to run on old ones
#include "corpus.h"

__device__ __host__ inline float twice(float a)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, 2);
#else
    return a + a;
#endif
}

__global__ void kernel(float *x)
{
#if __CUDA_ARCH__ >= 700
    x[threadIdx.x] = twice(x[threadIdx.x]) + 1;
#endif
}

#if !defined(__NVCC__) || !defined(__CUDACC_VER_MAJOR__) || __CUDACC_VER_MAJOR__ < 11
#error "nvcc defines these"
#endif

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, twice(1), 1);
}
