/* SPDX-License-Identifier: MIT */
/* product_cublas.c - the same product by NVIDIA's cuBLAS, which takes column-major matrices: a row-major matrix, read
   as a column-major one, is its transpose. So it is asked for C^T = B^T A^T, with nothing to be transposed:

       ours     C (m, n) = A (m, k) B (k, n)      row i of C lies at c + i n
       cuBLAS   (n, m)   = (n, k)   (k, m)        column i of the first one lies there, too

   A handle holds what the library keeps of a device; it is made at the first call there, and kept. Launchers are not
   called by several threads of the host at once, which a handle would not take. */
#include <limits.h>

#include <cublas_v2.h>

#include "product_begin.h"
#include "product_kernels.h"

enum { MAX_DEVICES = 64 };

static cudaError_t error_of(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return cudaSuccess;
    case CUBLAS_STATUS_ALLOC_FAILED:
        return cudaErrorMemoryAllocation;
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return cudaErrorNotSupported;
    case CUBLAS_STATUS_INVALID_VALUE:
        return cudaErrorInvalidValue;
    default:
        return cudaErrorUnknown;
    }
}

/* The current device's handle, set to sums in float32 and nothing narrower: by default partial sums may be added in the
   type of C. */
static cudaError_t find_handle(cublasHandle_t *handle)
{
    static cublasHandle_t handles[MAX_DEVICES];
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && device >= MAX_DEVICES)
        error = cudaErrorNotSupported;
    if (error == cudaSuccess && handles[device] == NULL) {
        error = error_of(cublasCreate(&handles[device]));
        if (error == cudaSuccess)
            error = error_of(cublasSetMathMode(handles[device], CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    }
    if (error == cudaSuccess)
        *handle = handles[device];
    return error;
}

cudaError_t product_cublas(const struct product_args *args, cudaStream_t stream)
{
    const float one = 1.0f, zero = 0.0f;
    cublasHandle_t handle;
    bool done;
    cudaError_t error = product_begin(args, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if (args->m > INT_MAX || args->n > INT_MAX || args->k > INT_MAX)
        return cudaErrorInvalidValue;
    const int m = (int)args->m, n = (int)args->n, k = (int)args->k;
    if ((error = find_handle(&handle)) != cudaSuccess ||
        (error = error_of(cublasSetStream(handle, stream))) != cudaSuccess)
        return error;
    if (args->dtype == FLOAT32)
        return error_of(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, (const float *)args->b, n,
                                    (const float *)args->a, k, &zero, (float *)args->c, n));
    const cudaDataType type = args->dtype == BF16 ? CUDA_R_16BF : CUDA_R_16F;
    return error_of(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, args->b, type, n, args->a, type, k,
                                 &zero, args->c, type, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
