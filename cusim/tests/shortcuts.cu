/* SPDX-License-Identifier: MIT */
/* shortcuts.cu - places in the code that have learnt which memory is legal there (compile/shortcuts.pl), and that then
   come to memory which is not: shortcuts CASE. Each sums up what lies at several pointers, one after the other, in one
   line, and the last one is wrong. In the cases right_... it is right. */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 64, POINTERS = 4 };
static float *in_host[POINTERS];
static bool done;

/* Of the host: its line is the place. */
__attribute__((noinline)) static float sum(float *const *pointers)
{
    float total = 0;

    for (int i = 0; i < POINTERS; i++)
        total += *pointers[i]; /* HERE host */
    return total;
}

__attribute__((noinline)) static void clear(float *const *pointers)
{
    for (int i = 0; i < POINTERS; i++)
        *pointers[i] = 0; /* HERE host_writes */
}

/* Reads at offsets in bytes from x. */
__global__ void reads(const char *x, long long second, long long third, long long fourth, float *result)
{
    const long long offsets[POINTERS] = {0, second, third, fourth};
    float total = 0;

    for (int i = 0; i < POINTERS; i++)
        total += *(const float *)(x + offsets[i]); /* HERE kernel */
    *result = total;
}

__global__ void writes(char *x, long long second, long long third, long long fourth)
{
    const long long offsets[POINTERS] = {0, second, third, fourth};

    for (int i = 0; i < POINTERS; i++)
        *(float *)(x + offsets[i]) = 1; /* HERE kernel_writes */
}

/* Each block reads its own tile, or from the second block on the tile of the first. */
__global__ void tiles(float **first, int of_first, float *result)
{
    float total = 0, *from;

    if (blockIdx.x == 0 || !of_first) {
        __shared__ float tile[N];
        tile[threadIdx.x] = 1;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            *(float *volatile *)first = tile;
        from = tile;
    } else
        from = *(float *volatile *)first;
    __syncthreads();
    for (int i = 0; i < N; i++)
        total += from[i]; /* HERE tiles */
    result[blockIdx.x * N + threadIdx.x] = total;
}

/* The second thread waits until the first has gone on writing, plainly, what nobody reads. */
__global__ void changes(float *x, volatile int *flag)
{
    if (threadIdx.x == 0) {
        for (int i = 1; i < N; i++)
            x[i] = 1;
        *flag = 1;
    } else if (threadIdx.x == 32) {
        while (*flag == 0)
            ;
    }
}

#define CASE(name) if (strcmp(argv[1], #name) == 0 && (done = true))

int main(int argc, char **argv)
{
    static float numbers[N];
    float *x, *y, *result, **first, total = 0;

    if (argc != 2)
        return 2;
    for (float *&pointer : in_host)
        pointer = &numbers[1];
    total += sum(in_host);
    cudaMalloc(&x, N * sizeof(*x));
    cudaMalloc(&y, N * sizeof(*y));
    cudaMalloc(&result, 2 * N * sizeof(*result));
    cudaMalloc(&first, sizeof(*first));
    cudaMemset(x, 0, N * sizeof(*x));
    cudaMemset(y, 0, N * sizeof(*y));
    for (int i = 0; i < 10; i++)
        total += sum(in_host);
    CASE(right_host) clear(in_host);
    CASE(host)
    {
        in_host[POINTERS - 1] = x;
        total += sum(in_host);
    }
    CASE(host_writes)
    {
        in_host[POINTERS - 1] = y;
        clear(in_host);
    }
    CASE(host_arrival) /* pageable memory, which was legal before a copy was on its way there */
    {
        cudaMemcpyAsync(numbers, x, sizeof(numbers), cudaMemcpyDeviceToHost);
        total += sum(in_host);
        cudaDeviceSynchronize();
    }
    CASE(right_kernel)
    {
        reads<<<1, 1>>>((char *)x, 4, 8, N * 4 - 4, result);
        writes<<<1, 1>>>((char *)x, 4, 8, N * 4 - 4);
        reads<<<1, 1>>>((char *)x, 4, (char *)y - (char *)x, 8, result);
        tiles<<<2, N>>>(first, 0, result);
        cudaMemset(first, 0, sizeof(*first));
        changes<<<1, N>>>(x, (int *)first);
    }
    CASE(past_end) reads<<<1, 1>>>((char *)x, 4, 8, N * 4, result);
    CASE(before) reads<<<1, 1>>>((char *)x, 4, 8, -4, result);
    CASE(writes_past_end) writes<<<1, 1>>>((char *)x, 4, 8, N * 4);
    CASE(misaligned) reads<<<1, 1>>>((char *)x, 4, 8, 6, result);
    CASE(of_the_host) reads<<<1, 1>>>((char *)x, 4, 8, (char *)new float(1) - (char *)x, result);
    CASE(other_block) tiles<<<2, N>>>(first, 1, result);
    cudaDeviceSynchronize();
    if (!done)
        return 2;
    printf("%g\n", (double)total);
    return 0;
}
