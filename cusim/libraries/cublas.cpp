/* SPDX-License-Identifier: MIT */
/* cublas.cpp - stand-ins for the functions of cuBLAS that programs compare their kernels with: plain loops, which add
   up in double. What they read and write is not watched, as a library's own kernels are not by a tool that watches
   those of the program. */
#include <math.h>
#include <stdlib.h>

#include "../machine/fault.h"
#include "../include/cublas_v2.h"
#include "../include/cuda_bf16.h"
#include "../include/cuda_fp16.h"
#include "../machine/announce.h"
#include "../machine/region.h"
#include "../runtime/host.h"
#include "../runtime/stream.h"

void sim_no_stand_in(const char *name)
{
    sim_fault_at(__builtin_return_address(0), "%s has no stand-in in the simulator. Leave it out, or run this on a GPU",
                 name);
}

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = (cublasHandle_t)calloc(1, sizeof(**handle));
    return *handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version)
{
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *, size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    default:
        return "unknown";
    }
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

/* ---- numbers of several types ---- */

static double get(const void *array, cudaDataType type, size_t i)
{
    switch (type) {
    case CUDA_R_32F:
        return ((const float *)array)[i];
    case CUDA_R_64F:
        return ((const double *)array)[i];
    case CUDA_R_16F:
        return __half2float(((const __half *)array)[i]);
    case CUDA_R_16BF:
        return __bfloat162float(((const __nv_bfloat16 *)array)[i]);
    case CUDA_R_8I:
        return ((const signed char *)array)[i];
    default:
        return ((const int *)array)[i];
    }
}

static void put(void *array, cudaDataType type, size_t i, double value)
{
    switch (type) {
    case CUDA_R_32F:
        ((float *)array)[i] = (float)value;
        break;
    case CUDA_R_64F:
        ((double *)array)[i] = value;
        break;
    case CUDA_R_16F:
        ((__half *)array)[i] = __float2half_rn((float)value);
        break;
    case CUDA_R_16BF:
        ((__nv_bfloat16 *)array)[i] = __float2bfloat16_rn((float)value);
        break;
    default:
        ((int *)array)[i] = (int)value;
    }
}

/* What a library writes counts as written. */
static void wrote(void *array, size_t bytes)
{
    const sim_lock_guard guard; /* several threads of the host may be here */
    struct sim_region *const region = sim_region_near(array);
    if (region != NULL && bytes > 0)
        sim_tell.written(region, array, bytes);
}

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F || type == CUDA_R_32I ? 4 : type == CUDA_R_8I ? 1 : 2;
}

static bool is_known(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_8I ||
           type == CUDA_R_32I;
}

/* A function computes at once, behind all that its stream has to do before. */
static bool begin(cublasHandle_t handle)
{
    if (handle == NULL)
        return false;
    const sim_lock_guard guard;
    if (sim_is_stream(handle->stream) && !sim_is_captured(handle->stream))
        sim_finish(handle->stream);
    return true;
}

/* The factors' own type follows from what is computed in. */
static double factor(cublasHandle_t handle, const void *at, cublasComputeType_t compute)
{
    (void)handle;
    return get(at,
               compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
               : compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
               : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                               : CUDA_R_32F,
               0);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stride_a, const void *b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || k < 0 || count < 0 || lda < (transa == CUBLAS_OP_N ? m : k) || lda < 1 ||
        ldb < (transb == CUBLAS_OP_N ? k : n) || ldb < 1 || ldc < m || ldc < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!is_known(type_a) || !is_known(type_b) || !is_known(type_c))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    begin(handle);
    const double by = factor(handle, alpha, compute), keep = factor(handle, beta, compute);
    const size_t row_a = transa == CUBLAS_OP_N ? 1 : (size_t)lda, col_a = transa == CUBLAS_OP_N ? (size_t)lda : 1;
    const size_t row_b = transb == CUBLAS_OP_N ? 1 : (size_t)ldb, col_b = transb == CUBLAS_OP_N ? (size_t)ldb : 1;

    for (size_t batch = 0; batch < (size_t)count; batch++) {
        const size_t at_a = batch * (size_t)stride_a, at_b = batch * (size_t)stride_b, at_c = batch * (size_t)stride_c;
        for (size_t j = 0; j < (size_t)n; j++)
            for (size_t i = 0; i < (size_t)m; i++) {
                double sum = 0;
                for (size_t l = 0; l < (size_t)k; l++)
                    sum += get(a, type_a, at_a + i * row_a + l * col_a) * get(b, type_b, at_b + l * row_b + j * col_b);
                const size_t at = at_c + i + j * (size_t)ldc;
                put(c, type_c, at, by * sum + (keep == 0 ? 0 : keep * get(c, type_c, at))); /* C may hold NaN then */
                wrote((char *)c + at * size_of(type_c), size_of(type_c));
            }
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                      beta, c, type_c, ldc, 0, 1, compute, algo);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
                              const float *beta, float *c, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, beta, c,
                        CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const double *alpha, const double *a, int lda, const double *b, int ldb,
                              const double *beta, double *c, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, CUDA_R_64F, lda, b, CUDA_R_64F, ldb, beta, c,
                        CUDA_R_64F, ldc, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb, long long stride_b,
                                         const float *beta, float *c, int ldc, long long stride_c, int count)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, CUDA_R_32F, lda, stride_a, b,
                                      CUDA_R_32F, ldb, stride_b, beta, c, CUDA_R_32F, ldc, stride_c, count,
                                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* ---- vectors ---- */

/* The place of element i; a negative step walks backward from the end. */
static size_t place(int n, int step, int i)
{
    return (size_t)(step >= 0 ? i * step : (i - n + 1) * step);
}

template <class T>
static cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha, const T *a,
                           int lda, const T *x, int incx, const T *beta, T *y, int incy)
{
    const int rows = trans == CUBLAS_OP_N ? m : n, cols = trans == CUBLAS_OP_N ? n : m;

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || lda < m || incx == 0 || incy == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    begin(handle);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < cols; j++)
            sum +=
                (double)a[trans == CUBLAS_OP_N ? i + (size_t)j * lda : j + (size_t)i * lda] * x[place(cols, incx, j)];
        T *const to = &y[place(rows, incy, i)];
        *to = (T)(*alpha * sum + (*beta == 0 ? 0 : (double)*beta * *to));
        wrote(to, sizeof(*to));
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float *alpha,
                              const float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy)
{
    return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double *alpha,
                              const double *a, int lda, const double *x, int incx, const double *beta, double *y,
                              int incy)
{
    return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x, int incx, float *y,
                              int incy)
{
    if (!begin(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    for (int i = 0; i < n; i++)
        y[place(n, incy, i)] += *alpha * x[place(n, incx, i)];
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float *alpha, float *x, int incx)
{
    if (!begin(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    for (int i = 0; i < n; i++)
        x[place(n, incx, i)] *= *alpha;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int incx, const float *y, int incy,
                             float *result)
{
    if (!begin(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[place(n, incx, i)] * y[place(n, incy, i)];
    *result = (float)sum;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float *x, int incx, float *result)
{
    const cublasStatus_t status = cublasSdot_v2(handle, n, x, incx, x, incx, result);
    if (status == CUBLAS_STATUS_SUCCESS)
        *result = sqrtf(*result);
    return status;
}

cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float *x, int incx, float *result)
{
    if (!begin(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs((double)x[place(n, incx, i)]);
    *result = (float)sum;
    return CUBLAS_STATUS_SUCCESS;
}

/* Counted from 1, as in Fortran. */
cublasStatus_t cublasIsamax_v2(cublasHandle_t handle, int n, const float *x, int incx, int *result)
{
    if (!begin(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    int most = 0;
    for (int i = 1; i < n; i++)
        if (fabsf(x[place(n, incx, i)]) > fabsf(x[place(n, incx, most)]))
            most = i;
    *result = n > 0 ? most + 1 : 0;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- copies ---- */

static cublasStatus_t copy(int rows, int cols, int size, const void *from, int from_step, void *to, int to_step,
                           cudaMemcpyKind kind)
{
    for (int j = 0; j < cols; j++)
        if (cudaMemcpy((char *)to + (size_t)j * to_step * size, (const char *)from + (size_t)j * from_step * size,
                       (size_t)rows * size, kind) != cudaSuccess)
            return CUBLAS_STATUS_MAPPING_ERROR;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *device_b, int ldb)
{
    return copy(rows, cols, size, a, lda, device_b, ldb, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void *device_a, int lda, void *b, int ldb)
{
    return copy(rows, cols, size, device_a, lda, b, ldb, cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *device_y, int incy)
{
    return incx == 1 && incy == 1 ? copy(n, 1, size, x, n, device_y, n, cudaMemcpyHostToDevice)
                                  : copy(1, n, size, x, incx, device_y, incy, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int size, const void *device_x, int incx, void *y, int incy)
{
    return incx == 1 && incy == 1 ? copy(n, 1, size, device_x, n, y, n, cudaMemcpyDeviceToHost)
                                  : copy(1, n, size, device_x, incx, y, incy, cudaMemcpyDeviceToHost);
}

/* In a stream, in which they are one copy. */
static cublasStatus_t copy_later(int rows, int cols, int size, const void *from, int from_step, void *to, int to_step,
                                 cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaError_t error =
        cudaMemcpy2DAsync(to, (size_t)to_step * (size_t)size, from, (size_t)from_step * (size_t)size,
                          (size_t)rows * (size_t)size, (size_t)cols, kind, stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int size, const void *a, int lda, void *device_b, int ldb,
                                    cudaStream_t stream)
{
    return copy_later(rows, cols, size, a, lda, device_b, ldb, cudaMemcpyHostToDevice, stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int size, const void *device_a, int lda, void *b, int ldb,
                                    cudaStream_t stream)
{
    return copy_later(rows, cols, size, device_a, lda, b, ldb, cudaMemcpyDeviceToHost, stream);
}

cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *device_y, int incy,
                                    cudaStream_t stream)
{
    return copy_later(1, n, size, x, incx, device_y, incy, cudaMemcpyHostToDevice, stream);
}

cublasStatus_t cublasGetVectorAsync(int n, int size, const void *device_x, int incx, void *y, int incy,
                                    cudaStream_t stream)
{
    return copy_later(1, n, size, device_x, incx, y, incy, cudaMemcpyDeviceToHost, stream);
}
