/* SPDX-License-Identifier: MIT */
/* sim_refused.h - host calls that programs name and that mean nothing here: memory shared between processes or with
   what draws, graphs that allocate or decide. They compile; a call stops the program with its name and line. Of
   cuda_runtime.h. */
#ifndef SIM_REFUSED_H
#define SIM_REFUSED_H

#define SIM_STOP(name) SIM_NO_STAND_IN(cudaError_t, name)

/* memory and events of another process */
typedef struct {
    char reserved[64];
} cudaIpcMemHandle_t, cudaIpcEventHandle_t;
#define cudaIpcMemLazyEnablePeerAccess 0x01
SIM_STOP(cudaIpcGetMemHandle)
SIM_STOP(cudaIpcOpenMemHandle)
SIM_STOP(cudaIpcCloseMemHandle)
SIM_STOP(cudaIpcGetEventHandle)
SIM_STOP(cudaIpcOpenEventHandle)

/* memory of a library that draws */
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
enum cudaGraphicsRegisterFlags {
    cudaGraphicsRegisterFlagsNone,
    cudaGraphicsRegisterFlagsReadOnly,
    cudaGraphicsRegisterFlagsWriteDiscard
};
enum cudaGraphicsMapFlags { cudaGraphicsMapFlagsNone, cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard };
SIM_STOP(cudaGraphicsUnregisterResource)
SIM_STOP(cudaGraphicsMapResources)
SIM_STOP(cudaGraphicsUnmapResources)
SIM_STOP(cudaGraphicsResourceGetMappedPointer)
SIM_STOP(cudaGraphicsSubResourceGetMappedArray)
SIM_STOP(cudaGraphicsResourceSetMapFlags)

/* pools of one's own */
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone = 0,
    cudaMemHandleTypePosixFileDescriptor = 1,
    cudaMemHandleTypeWin32 = 2
};
enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned char reserved[56];
};
struct cudaMemPoolPtrExportData {
    unsigned char reserved[64];
};
SIM_STOP(cudaMemPoolCreate)
SIM_STOP(cudaMemPoolDestroy)
SIM_STOP(cudaMemPoolSetAccess)
SIM_STOP(cudaMemPoolGetAccess)
SIM_STOP(cudaMemPoolExportPointer)
SIM_STOP(cudaMemPoolImportPointer)
SIM_STOP(cudaMemPoolExportToShareableHandle)
SIM_STOP(cudaMemPoolImportFromShareableHandle)

/* graphs whose nodes allocate, or that decide while they run */
enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent,
    cudaGraphMemAttrUsedMemHigh,
    cudaGraphMemAttrReservedMemCurrent,
    cudaGraphMemAttrReservedMemHigh
};
struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
};
#define cudaGraphInstantiateFlagAutoFreeOnLaunch 1
SIM_STOP(cudaGraphAddMemAllocNode)
SIM_STOP(cudaGraphAddMemFreeNode)
SIM_STOP(cudaGraphMemAllocNodeGetParams)
SIM_STOP(cudaDeviceGetGraphMemAttribute)
SIM_STOP(cudaDeviceSetGraphMemAttribute)
SIM_STOP(cudaDeviceGraphMemTrim)
SIM_STOP(cudaGraphExecKernelNodeSetParams)
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
SIM_STOP(cudaGraphExecUpdate)
SIM_STOP(cudaStreamGetCaptureInfo)

typedef unsigned long long cudaGraphConditionalHandle;
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch };
#define cudaGraphCondAssignDefault 1
struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    cudaGraphConditionalNodeType type;
    unsigned size;
    cudaGraph_t *phGraph_out;
};
struct cudaGraphNodeParams {
    cudaGraphNodeType type;
    cudaKernelNodeParams kernel;
    cudaConditionalNodeParams conditional;
};
SIM_STOP(cudaGraphAddNode)
SIM_STOP(cudaStreamBeginCaptureToGraph)
SIM_STOP(cudaGraphConditionalHandleCreate)
SIM_STOP(cudaGraphSetConditional)

SIM_INLINE cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                     unsigned long long flags = 0)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

#endif
