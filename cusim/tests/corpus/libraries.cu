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
    right = right && cublasDgemv(handle, CUBLAS_OP_T, 2, 2, &one, a, 2, a + 4, 1, &none, a + 6, 1) == CUBLAS_STATUS_SUCCESS;
    cudaMemcpy(result + 2, a + 6, 2 * sizeof(double), cudaMemcpyDeviceToHost);
    cublasDestroy(handle);
    cudaFree(a);
    return right && result[0] == 134 && result[1] == 178 && result[2] == 23 && result[3] == 34;
}

int main(void)
{
    float *x = numbers(), *y = numbers();
    return generators(y) && products() ? finish(x, 1, 0) : 1;
}
