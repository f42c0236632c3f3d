/* SPDX-License-Identifier: MIT */
/* cuda.h - the driver's header. Many programs include it and call nothing of it. Where a toolkit has one, that
   declares what there is; a program that calls it cannot be linked, with a sentence. */
#ifndef SIM_CUDA_H
#define SIM_CUDA_H

#include "cuda_runtime.h"

#if __has_include_next(<cuda.h>)
#include_next <cuda.h>
#else
#define CUDA_VERSION CUDART_VERSION
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 } CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
#ifdef __cplusplus
extern "C" {
#endif
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult error, const char **text);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuDeviceGet(CUdevice *device, int number);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int size, CUdevice device);
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxSynchronize(void);
CUresult cuModuleLoad(CUmodule *module, const char *file);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t size);
CUresult cuMemFree(CUdeviceptr pointer);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters,
                        void **extra);
#ifdef __cplusplus
}
#endif
#endif

#endif
