/* SPDX-License-Identifier: MIT */
/* cost.cu - the cost of an observed access: prints nanoseconds of processor time for each, of five kinds. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 256, EACH = 128, BLOCKS = 4, LAUNCHES = 64 };

__global__ void global_4(float *x, float *y)
{
    x += blockIdx.x * THREADS * EACH, y += blockIdx.x * THREADS * EACH;
    for (int i = 0; i < EACH; i++)
        y[i * THREADS + threadIdx.x] = x[i * THREADS + threadIdx.x];
}

__global__ void global_16(float4 *x, float4 *y)
{
    x += blockIdx.x * THREADS * EACH / 4, y += blockIdx.x * THREADS * EACH / 4;
    for (int i = 0; i < EACH / 4; i++)
        __stcs(&y[i * THREADS + threadIdx.x], __ldcs(&x[i * THREADS + threadIdx.x]));
}

__global__ void rows_4(float *x, float *y)
{
    x += blockIdx.x * THREADS * EACH, y += blockIdx.x * THREADS * EACH;
    for (int i = 0; i < EACH; i++)
        y[threadIdx.x * EACH + i] = x[threadIdx.x * EACH + i];
}

__global__ void shared_4(float *, float *y)
{
    __shared__ volatile float tile[THREADS * 8];

    for (int i = 0; i < EACH; i++) {
        volatile float *own = &tile[i % 8 * THREADS + threadIdx.x];
        *own = i;
        if (*own != i)
            y[threadIdx.x] = 0;
    }
}

/* Host code, which touches no memory of the device's. */
static float host_4(const float *a, const float *b)
{
    float sum = 0;
    for (int round = 0; round < 4096; round++)
        for (int i = 0; i < 4096; i++)
            sum += a[i] * b[(i + round) % 4096];
    return sum;
}

/* Once before the clock starts: then memory is new. */
#define MEASURE(kernel, type, accesses)                                                                                \
    for (int i = 0; i <= LAUNCHES; i++) {                                                                              \
        start = i == 1 ? clock() : start;                                                                              \
        kernel<<<BLOCKS, THREADS>>>((type *)x, (type *)y);                                                             \
    }                                                                                                                  \
    printf("%s %.1f\n", #kernel, (double)(clock() - start) / CLOCKS_PER_SEC * 1e9 / (accesses) / LAUNCHES);

int main(void)
{
    const size_t count = (size_t)BLOCKS * THREADS * EACH;
    float *x, *y;
    clock_t start = 0;

    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMemset(x, 0, count * sizeof(float));
    MEASURE(global_4, float, 2.0 * count)
    MEASURE(global_16, float4, 2.0 * count / 4)
    MEASURE(rows_4, float, 2.0 * count)
    MEASURE(shared_4, float, 2.0 * count)
    static float a[4096], b[4096];
    start = clock();
    b[0] = host_4(a, b);
    printf("host_4 %.1f\n", (double)(clock() - start) / CLOCKS_PER_SEC * 1e9 / (2.0 * 4096 * 4096));
    return b[0] != 0 || cudaFree(x) != cudaSuccess || cudaFree(y) != cudaSuccess;
}
