/* SPDX-License-Identifier: MIT */
/* cufft.h - declares what programs name; a call stops the program with its name and line. */
#ifndef _CUFFT_H_
#define _CUFFT_H_

#include "cuComplex.h"
#include "library_types.h"
#define CUFFT_H_

typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef int cufftHandle;
typedef enum {
    CUFFT_SUCCESS,
    CUFFT_INVALID_PLAN,
    CUFFT_ALLOC_FAILED,
    CUFFT_INVALID_TYPE,
    CUFFT_INVALID_VALUE,
    CUFFT_INTERNAL_ERROR,
    CUFFT_EXEC_FAILED,
    CUFFT_SETUP_FAILED,
    CUFFT_INVALID_SIZE,
    CUFFT_UNALIGNED_DATA,
    CUFFT_INVALID_DEVICE = 0xb,
    CUFFT_NO_WORKSPACE = 0xd,
    CUFFT_NOT_IMPLEMENTED = 0xe,
    CUFFT_NOT_SUPPORTED = 0x10,
    CUFFT_MISSING_DEPENDENCY,
    CUFFT_NVRTC_FAILURE,
    CUFFT_NVJITLINK_FAILURE,
    CUFFT_NVSHMEM_FAILURE
} cufftResult_t;
typedef cufftResult_t cufftResult;
typedef enum {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
} cufftType;
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

#ifdef __cplusplus
/* clang-format off */
#define CUFFT_WITHOUT(X) \
    X(cufftPlan1d) X(cufftPlan2d) X(cufftPlan3d) X(cufftPlanMany) X(cufftMakePlan1d) X(cufftMakePlan2d) \
    X(cufftCreate) X(cufftMakePlanMany) X(cufftSetStream) X(cufftDestroy) X(cufftExecC2C) X(cufftExecR2C) \
    X(cufftExecC2R) X(cufftExecZ2Z) X(cufftExecD2Z) X(cufftExecZ2D) X(cufftGetSize) X(cufftEstimate1d)
/* clang-format on */
#define CUFFT_STOP(name) SIM_NO_STAND_IN(cufftResult, name)
CUFFT_WITHOUT(CUFFT_STOP)
#endif
#endif
