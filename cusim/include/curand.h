/* SPDX-License-Identifier: MIT */
/* curand.h - cuRAND's host calls for uniform and normal numbers; the numbers are others than cuRAND's (curand.cpp). */
#ifndef CURAND_H_
#define CURAND_H_

#include "cuda_runtime.h"

typedef struct curandGenerator_st *curandGenerator_t;
typedef enum {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum {
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203
} curandRngType_t;
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef enum {
    CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
    CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103
} curandDirectionVectorSet_t;
typedef enum {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;

#ifdef __cplusplus
extern "C" {
#endif
curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *numbers, size_t n);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *numbers, size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *numbers, size_t n);
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *numbers, size_t n, float mean, float stddev);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *numbers, size_t n, double mean,
                                          double stddev);
#ifdef __cplusplus
}
#define CURAND_STOP(name) SIM_NO_STAND_IN(curandStatus_t, name)
CURAND_STOP(curandGenerateLogNormal)
CURAND_STOP(curandGeneratePoisson)
CURAND_STOP(curandSetQuasiRandomGeneratorDimensions)
CURAND_STOP(curandGetDirectionVectors32)
CURAND_STOP(curandGetDirectionVectors64)
CURAND_STOP(curandSetGeneratorOrdering)
#endif
#endif
