// right
// SPDX-License-Identifier: MIT
// A host's plain read may be too old: the compare-and-swap of the same word finds that out. Of managed memory, and
// of pinned memory that the kernel changes before and after.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void most(int *x)
{
    atomicMax_system(x, (int)threadIdx.x);
}

static void at_least(int *x, int least)
{
    int expected, old;

    do {
        expected = *x;
        old = __sync_val_compare_and_swap(x, expected, expected < least ? least : expected);
    } while (old != expected);
}

int main(void)
{
    int *managed, *pinned;
    cudaStream_t stream;

    cudaMallocManaged(&managed, sizeof(*managed));
    cudaMallocHost(&pinned, sizeof(*pinned));
    cudaStreamCreate(&stream);
    *managed = *pinned = 0;
    most<<<1, 64>>>(managed);
    at_least(managed, 99);
    most<<<1, 64, 0, stream>>>(pinned);
    at_least(pinned, 99);
    most<<<1, 64, 0, stream>>>(pinned);
    cudaDeviceSynchronize();
    puts(*managed == 99 && *pinned == 99 ? "right" : "wrong");
    return 0;
}
