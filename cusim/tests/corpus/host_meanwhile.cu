// right
// SPDX-License-Identifier: MIT
// A thread of the host computes in an array of its own, in pinned memory, while kernels of another one run.
#include <atomic>
#include <cuda_runtime.h>
#include <stdio.h>
#include <thread>

enum { SIZE = 64, LAUNCHES = 50, STEPS = 200 };

__global__ void count(int *numbers)
{
    for (int i = 0; i < STEPS; i++) {
        numbers[threadIdx.x]++;
        __syncthreads();
    }
}

static void compute(int *numbers, const std::atomic<bool> *ends, int *rounds)
{
    for (*rounds = 0; !*ends; ++*rounds)
        for (int i = 0; i < SIZE; i++)
            numbers[i] += i;
}

int main(void)
{
    std::atomic<bool> ends(false);
    int *numbers, *counted, result[SIZE], rounds, wrong = 0;

    cudaMallocHost(&numbers, SIZE * sizeof(int));
    cudaMalloc(&counted, SIZE * sizeof(int));
    cudaMemset(counted, 0, SIZE * sizeof(int));
    for (int i = 0; i < SIZE; i++)
        numbers[i] = 0;
    std::thread other(compute, numbers, &ends, &rounds);
    for (int i = 0; i < LAUNCHES; i++) {
        count<<<1, SIZE>>>(counted);
        cudaDeviceSynchronize();
    }
    ends = true;
    other.join();
    cudaMemcpy(result, counted, sizeof(result), cudaMemcpyDeviceToHost);
    for (int i = 0; i < SIZE; i++)
        wrong += result[i] != LAUNCHES * STEPS || numbers[i] != rounds * i;
    puts(wrong == 0 ? "right" : "wrong");
    cudaFreeHost(numbers);
    cudaFree(counted);
    return 0;
}
