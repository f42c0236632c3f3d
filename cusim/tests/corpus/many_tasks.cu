// right
// SPDX-License-Identifier: MIT
// More tasks than are remembered one by one, after one that is done and that nobody has waited for: what the host has
// waited for is forgotten, and may not be taken for that one.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>

enum { SIZE = 8, ROUNDS = 400 };

__global__ void fill(float *x, float value)
{
    x[threadIdx.x] = value;
}

int main(void)
{
    const size_t bytes = SIZE * SIZE * sizeof(float);
    const float one = 1, zero = 0;
    float *x, *product, *y, *result;
    int right = 0;
    cublasHandle_t handle;
    cudaStream_t unwaited, waited;

    cudaStreamCreateWithFlags(&unwaited, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&waited, cudaStreamNonBlocking);
    cublasCreate(&handle);
    cublasSetStream(handle, unwaited);
    cudaMalloc(&x, bytes);
    cudaMalloc(&product, bytes);
    cudaMalloc(&y, bytes);
    cudaMallocHost(&result, bytes);
    fill<<<1, SIZE * SIZE, 0, unwaited>>>(x, 1.0f);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, x, SIZE, x, SIZE, &zero, product, SIZE);
    for (int round = 0; round < ROUNDS; round++) {
        fill<<<1, SIZE * SIZE, 0, waited>>>(y, (float)round);
        cudaMemcpyAsync(result, y, bytes, cudaMemcpyDeviceToHost, waited);
        cudaStreamSynchronize(waited);
        right += result[0] == round;
    }
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(product);
    cudaFree(y);
    cudaFreeHost(result);
    cublasDestroy(handle);
    cudaStreamDestroy(unwaited);
    cudaStreamDestroy(waited);
    puts(right == ROUNDS ? "right" : "wrong");
    return 0;
}
