/* SPDX-License-Identifier: MIT */
/* cublasLt.h - declares what programs name; a call stops the program with its name and line. */
#ifndef CUBLASLT_H
#define CUBLASLT_H

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct sim_cublaslt_layout *cublasLtMatrixLayout_t;
typedef struct sim_cublaslt_matmul *cublasLtMatmulDesc_t;
typedef struct sim_cublaslt_preference *cublasLtMatmulPreference_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef enum {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    CUBLASLT_EPILOGUE_GELU_AUX = 160,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
    CUBLASLT_EPILOGUE_DGELU = 192,
    CUBLASLT_EPILOGUE_BGRADA = 256,
    CUBLASLT_EPILOGUE_BGRADB = 512
} cublasLtEpilogue_t;
typedef enum {
    CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
    CUBLASLT_MATMUL_DESC_SCALE_TYPE,
    CUBLASLT_MATMUL_DESC_POINTER_MODE,
    CUBLASLT_MATMUL_DESC_TRANSA,
    CUBLASLT_MATMUL_DESC_TRANSB,
    CUBLASLT_MATMUL_DESC_TRANSC,
    CUBLASLT_MATMUL_DESC_FILL_MODE,
    CUBLASLT_MATMUL_DESC_EPILOGUE,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
    CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
} cublasLtMatmulDescAttributes_t;
typedef enum {
    CUBLASLT_MATRIX_LAYOUT_TYPE,
    CUBLASLT_MATRIX_LAYOUT_ORDER,
    CUBLASLT_MATRIX_LAYOUT_ROWS,
    CUBLASLT_MATRIX_LAYOUT_COLS,
    CUBLASLT_MATRIX_LAYOUT_LD,
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
} cublasLtMatrixLayoutAttribute_t;
typedef enum {
    CUBLASLT_MATMUL_PREF_SEARCH_MODE,
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
} cublasLtMatmulPreferenceAttributes_t;

#ifdef __cplusplus
/* a handle is made, because programs make one at their start, whether they use it or not */
SIM_INLINE cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate_v2((cublasHandle_t *)(void *)handle);
}
SIM_INLINE cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy_v2((cublasHandle_t)(void *)handle);
}
/* clang-format off */
#define CUBLASLT_WITHOUT(X) \
    X(cublasLtMatmul) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) \
    X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) \
    X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) \
    X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic)
/* clang-format on */
CUBLASLT_WITHOUT(CUBLAS_STOP)
#endif
#endif
