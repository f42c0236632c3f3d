// right
// SPDX-License-Identifier: MIT
// cuBLAS from several threads of the host, each with a handle, a stream and memory of its own.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <thread>
#include <vector>

enum { THREADS = 4, SIZE = 8, ROUNDS = 20 };

__global__ void fill(float *x, float value)
{
    x[threadIdx.x] = value;
}

// x and y hold one number each, so that all of their product's elements are SIZE times both numbers.
static void multiply(int number, int *right)
{
    const size_t bytes = SIZE * SIZE * sizeof(float);
    const float one = 1, zero = 0;
    float *x, *y, *product, *result;
    cublasHandle_t handle;
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&product, bytes);
    cudaMallocHost(&result, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        fill<<<1, SIZE * SIZE, 0, stream>>>(x, (float)number);
        fill<<<1, SIZE * SIZE, 0, stream>>>(y, (float)round);
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, x, SIZE, y, SIZE, &zero, product, SIZE);
        cudaMemcpyAsync(result, product, bytes, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        right[number] += result[0] == SIZE * number * round && result[SIZE * SIZE - 1] == result[0];
    }
    cudaFree(x);
    cudaFree(y);
    cudaFree(product);
    cudaFreeHost(result);
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
}

int main(void)
{
    int right[THREADS] = {}, sum = 0;
    std::vector<std::thread> threads;

    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(multiply, i, right);
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < THREADS; i++)
        sum += right[i];
    puts(sum == THREADS * ROUNDS ? "right" : "wrong");
    return 0;
}
