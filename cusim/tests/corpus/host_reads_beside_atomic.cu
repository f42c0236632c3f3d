// stopped: race: reads byte 0 of the 4-byte allocation
// SPDX-License-Identifier: MIT
// A host's plain read beside a kernel's atomic, and what the host does next does not compare.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void most(int *x)
{
    atomicMax_system(x, (int)threadIdx.x);
}

int main(void)
{
    int *x, old;

    cudaMallocManaged(&x, sizeof(*x));
    *x = 0;
    most<<<1, 64>>>(x);
    old = *x; // HERE
    __sync_fetch_and_add(x, old);
    cudaDeviceSynchronize();
    return 0;
}
