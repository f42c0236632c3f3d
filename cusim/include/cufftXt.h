/* SPDX-License-Identifier: MIT */
/* cufftXt.h - declares what programs name; a call stops the program with its name and line. */
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include "cufft.h"

enum { MAX_CUDA_DESCRIPTOR_GPUS = 64 };
typedef struct {
    int version, nGPUs, GPUs[MAX_CUDA_DESCRIPTOR_GPUS];
    void *data[MAX_CUDA_DESCRIPTOR_GPUS];
    size_t size[MAX_CUDA_DESCRIPTOR_GPUS];
    void *cudaXtState;
} cudaXtDesc;
typedef struct {
    int version;
    cudaXtDesc *descriptor;
    int library, subFormat;
    void *libDescriptor;
} cudaLibXtDesc;
typedef enum { CUFFT_COPY_HOST_TO_DEVICE, CUFFT_COPY_DEVICE_TO_HOST, CUFFT_COPY_DEVICE_TO_DEVICE } cufftXtCopyType;
typedef enum { CUFFT_XT_FORMAT_INPUT, CUFFT_XT_FORMAT_OUTPUT, CUFFT_XT_FORMAT_INPLACE } cufftXtSubFormat;
typedef enum { CUFFT_CB_LD_COMPLEX, CUFFT_CB_LD_REAL = 2, CUFFT_CB_ST_COMPLEX = 4 } cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void *data, size_t offset, void *caller, void *shared);
typedef void (*cufftCallbackStoreC)(void *data, size_t offset, cufftComplex element, void *caller, void *shared);

#ifdef __cplusplus
CUFFT_STOP(cufftXtMalloc)
CUFFT_STOP(cufftXtMemcpy)
CUFFT_STOP(cufftXtFree)
CUFFT_STOP(cufftXtSetGPUs)
CUFFT_STOP(cufftXtExecDescriptorC2C)
CUFFT_STOP(cufftXtSetCallback)
CUFFT_STOP(cufftXtMakePlanMany)
#endif
#endif
