// refused here: __cluster_dims__ is not simulated. Launch with cudaLaunchKernelEx
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void __cluster_dims__(1, 1, 1) kernel(float *x) // HERE
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
