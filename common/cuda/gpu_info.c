/* SPDX-License-Identifier: MIT */
/* gpu_info.c - see gpu_info.h */
#include "gpu_info.h"

/* The compute capability of the code that a chip takes. Machine code runs on chips of its generation that are not
   older: that for sm_80 on sm_86. Of the newest there is PTX, too, from which the driver makes machine code for any
   later chip. For other chips there is none, and every launch fails with cudaErrorNoKernelImageForDevice. */
static int code_for(int chip_arch)
{
    static const int compiled[] = {LINREC_ARCH}; /* the newest last */
    const int count = sizeof compiled / sizeof compiled[0];
    for (int i = count - 1; i >= 0; i--)
        if (compiled[i] <= chip_arch && (i == count - 1 || compiled[i] / 10 == chip_arch / 10))
            return compiled[i];
    return chip_arch;
}

cudaError_t gpu_info_read(struct gpu_info *gpu)
{
    int device = 0, major = 0, minor = 0, limit = 0, multiprocessors = 0, cooperative = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    gpu->chip_arch = 10 * major + minor;
    gpu->arch = code_for(gpu->chip_arch);
    gpu->shared_limit = limit > 1024 ? (size_t)limit - 1024 : 0; /* the kernels' own few bytes count, too */
    gpu->multiprocessors = multiprocessors;
    gpu->cooperative = cooperative != 0;
    return error;
}

cudaError_t gpu_allow_shared(const void *kernel, size_t bytes, int arch)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    if (error != cudaSuccess)
        return error;
    if (gpu.arch < arch || bytes > gpu.shared_limit)
        return cudaErrorNotSupported;
    /* a block must ask for more than 48 KB, the kernel's own few bytes included */
    return bytes <= 40 * 1024
               ? cudaSuccess
               : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)gpu.shared_limit);
}
