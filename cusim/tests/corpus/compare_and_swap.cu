// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ static void add(float *place, float value)
{
    int *bits = (int *)place, old = *bits, assumed;

    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value + __int_as_float(assumed)));
    } while (assumed != old);
}

__global__ void kernel(float *x, float *sum)
{
    add(sum, 1);
    __threadfence();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < N; i++)
            x[i] = 2 * x[i] + 1;
}

int main(void)
{
    float *x = numbers();
    float *sum = numbers(), total;
    kernel<<<2, N>>>(x, sum);
    cudaMemcpy(&total, sum, sizeof(total), cudaMemcpyDeviceToHost);
    if (total != 2 * N)
        return 1;
    return finish(x, 2, 1);
}
