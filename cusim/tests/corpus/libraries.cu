// right
// SPDX-License-Identifier: MIT
#include <cublas_v2.h>
#include <curand.h>
#ifdef CUSIM // not in every toolkit
#include <nvToolsExtCuda.h>
#endif
#include "corpus.h"

// A generator that was never made, or is gone, is an error and no crash.
static bool generators(float *x)
{
    curandGenerator_t made, other = (curandGenerator_t)x;
    return curandCreateGenerator(&made, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS &&
           curandSetPseudoRandomGeneratorSeed(other, 7) == CURAND_STATUS_NOT_INITIALIZED &&
           curandGenerateUniform(other, x, N) == CURAND_STATUS_NOT_INITIALIZED &&
           curandGenerateUniform(made, x, N) == CURAND_STATUS_SUCCESS &&
           curandDestroyGenerator(made) == CURAND_STATUS_SUCCESS &&
           curandDestroyGenerator(made) == CURAND_STATUS_NOT_INITIALIZED;
}

// (1 2; 3 4) times (5 6), and its transpose
static bool products(void)
{
    const double host[] = {1, 3, 2, 4, 5, 6, 100, 100}, two = 2, one = 1, none = 0;
    double *a, result[4];
    cublasHandle_t handle;

    cudaMalloc(&a, sizeof(host));
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    bool right = cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS &&
                 cublasDgemv(handle, CUBLAS_OP_N, 2, 2, &two, a, 2, a + 4, 1, &one, a + 6, 1) == CUBLAS_STATUS_SUCCESS;
    cudaMemcpy(result, a + 6, 2 * sizeof(double), cudaMemcpyDeviceToHost);
    right =
        right && cublasDgemv(handle, CUBLAS_OP_T, 2, 2, &one, a, 2, a + 4, 1, &none, a + 6, 1) == CUBLAS_STATUS_SUCCESS;
    cudaMemcpy(result + 2, a + 6, 2 * sizeof(double), cudaMemcpyDeviceToHost);
    cublasDestroy(handle);
    cudaFree(a);
    return right && result[0] == 134 && result[1] == 178 && result[2] == 23 && result[3] == 34;
}

__global__ void fill(float *x, float value)
{
    x[threadIdx.x] = value;
}

// What a stream has to do before a function of a library is done before.
static bool streams(void)
{
    const float one = 1, none = 0;
    float *a, *x, *y, *result;
    cudaStream_t stream;
    cublasHandle_t handle;
    curandGenerator_t generator;

    cudaStreamCreate(&stream);
    cudaMalloc(&a, 6 * sizeof(float));
    x = a + 4;
    cudaMalloc(&y, 3 * sizeof(float));
    cudaMallocHost(&result, 3 * sizeof(float));
    bool right =
        cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS && cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS;
    fill<<<1, 4, 0, stream>>>(a, 1);
    fill<<<1, 2, 0, stream>>>(x, 3);
    right = right && cublasSgemv(handle, CUBLAS_OP_N, 2, 2, &one, a, 2, x, 1, &none, y, 1) == CUBLAS_STATUS_SUCCESS;
    fill<<<1, 1, 0, stream>>>(a, -1);
    right = right && curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS &&
            curandSetStream(generator, stream) == CURAND_STATUS_SUCCESS &&
            curandGenerateUniform(generator, a, 1) == CURAND_STATUS_SUCCESS;
    cudaMemcpyAsync(y + 2, a, sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(result, y, 3 * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    right = right && result[0] == 6 && result[1] == 6 && result[2] > 0;
    cublasDestroy(handle);
    curandDestroyGenerator(generator);
    cudaFree(a);
    cudaFree(y);
    cudaFreeHost(result);
    cudaStreamDestroy(stream);
    return right;
}

// A matrix of 2 rows goes into a stream and comes back, and so does its second row.
static bool copies(void)
{
    static double host[] = {1, 3, 2, 4};
    double *a, *back, *row;
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    cudaMalloc(&a, sizeof(host));
    cudaMallocHost(&back, sizeof(host));
    cudaMallocHost(&row, 2 * sizeof(double));
    bool right = cublasSetMatrixAsync(2, 2, sizeof(double), host, 2, a, 2, stream) == CUBLAS_STATUS_SUCCESS &&
                 cublasGetMatrixAsync(2, 2, sizeof(double), a, 2, back, 2, stream) == CUBLAS_STATUS_SUCCESS &&
                 cublasGetVectorAsync(2, sizeof(double), a + 1, 2, row, 1, stream) == CUBLAS_STATUS_SUCCESS &&
                 cublasGetMatrixAsync(2, 2, sizeof(double), a, 1, back, 2, stream) != CUBLAS_STATUS_SUCCESS;
    cudaStreamSynchronize(stream);
    for (int i = 0; i < 4; i++)
        right = right && back[i] == host[i];
    right = right && row[0] == 3 && row[1] == 4;
    cudaFree(a);
    cudaFreeHost(back);
    cudaFreeHost(row);
    cudaStreamDestroy(stream);
    return right;
}

int main(void)
{
    float *x = numbers(), *y = numbers();
    return generators(y) && products() && streams() && copies() ? finish(x, 1, 0) : 1;
}
