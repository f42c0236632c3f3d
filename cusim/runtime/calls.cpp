/* SPDX-License-Identifier: MIT */
/* calls.cpp - calls of the host API: who may make one (the lock), which one is being answered, what errors they return;
   and the one that is to fail (CUSIM_FAIL, sim_watch_calls), so that one sees whether the program notices. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "../include/cuda_runtime.h"
#include "../machine/locate.h"
#include "host.h"
#include "../machine/announce.h"
#include "tasks.h"
#include "../machine/settings.h"

void sim_locate_call(const struct sim_call *call, char *text, size_t size)
{
    if (call->file != NULL)
        snprintf(text, size, "%s:%d", call->file, call->line);
    else
        sim_locate((const char *)call->at - 1, text, size);
}

struct sim_call sim_call;
static unsigned depth; /* of calls of the API by itself */

void sim_enter(const struct sim_call &call)
{
    if (depth++ > 0)
        return;
    sim_call = call;
    sim_tell.call_begins(&sim_call);
}

void sim_leave(void)
{
    depth--;
}

bool sim_is_inner(void)
{
    return depth > 1;
}

struct called {
    struct sim_call call;
    const char *kernel; /* that is launched; else NULL */
    bool can_fail;
    cudaError_t error; /* what it has returned */
    cudaStream_t stream;
    cudaEvent_t event;
};

static int number;       /* of the next call that can fail, counted from 0 */
static int to_fail = -1; /* the one that fails; -1: none */
static bool is_asked;    /* by CUSIM_FAIL: say which one it was */
static bool watched;     /* remember all */
static std::vector<struct called> &calls = *new std::vector<struct called>();

static void say_if_none(void)
{
    if (is_asked && to_fail >= number)
        fprintf(stderr, "simulator: CUSIM_FAIL=%d, but the program made %d calls that can fail\n", to_fail + 1, number);
}

__attribute__((constructor)) static void read_fail(void)
{
    to_fail = (int)sim_number_setting("CUSIM_FAIL", 1, 1000000000, 0,
                                      "1 for the first call that can fail, 2 for the second, and so on") -
              1;
    if (to_fail < 0)
        return;
    is_asked = true;
    atexit(say_if_none);
}

static bool is_the_one(cudaError_t error, const struct called call)
{
    char place[256];

    if (watched)
        calls.push_back(call);
    if (number++ != to_fail)
        return false;
    if (is_asked) {
        sim_locate_call(&call.call, place, sizeof(place));
        fprintf(stderr, "simulator: %s: %s%s fails with %s, as CUSIM_FAIL=%d asks\n", place,
                call.kernel != NULL ? "the launch of " : "", call.kernel != NULL ? call.kernel : call.call.name,
                cudaGetErrorName(error), to_fail + 1);
    }
    return true;
}

bool sim_in_host_function;
const char *const sim_calls_nothing = "a stream has called this function of the host, which may call nothing of CUDA. "
                                      "Let it set a flag, and call that where the host waits";

sim_host_function::sim_host_function() : by(sim_call), depth(::depth)
{
    sim_in_host_function = true;
    ::depth = 0;
}

sim_host_function::~sim_host_function()
{
    sim_in_host_function = false;
    ::depth = depth;
    sim_call = by;
}

bool sim_fails(cudaError_t error)
{
    return !sim_is_inner() && is_the_one(error, {sim_call, NULL, true, cudaSuccess, NULL, NULL});
}

bool sim_launch_fails(cudaError_t error, const char *kernel)
{
    return is_the_one(error, {sim_call, kernel, true, cudaSuccess, NULL, NULL});
}

void sim_call_is_on(cudaStream_t stream, cudaEvent_t event)
{
    if (!watched || calls.empty() || calls.back().call.at != sim_call.at)
        return;
    calls.back().stream = stream == cudaStreamLegacy || stream == cudaStreamPerThread ? NULL : stream;
    if (event != NULL)
        calls.back().event = event;
}

static void remember_error(cudaError_t error, const struct sim_call &call)
{
    if (!watched || error == cudaSuccess)
        return;
    if (!calls.empty() && calls.back().call.at == call.at)
        calls.back().error = error;
    else
        calls.push_back({call, NULL, false, error, NULL, NULL});
}

void sim_call_returns(cudaError_t error, const char *why, const char *call, const void *at)
{
    const struct sim_call by = depth > 0 ? sim_call : (struct sim_call){call, at, NULL, 0};

    remember_error(error, by);
    sim_tell.erred(error, why, &by);
}

/* ---- host threads ---- */

static pthread_mutex_t device = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void sim_lock(void)
{
    pthread_mutex_lock(&device);
}

bool sim_try_lock(void)
{
    return pthread_mutex_trylock(&device) == 0;
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&device);
}

/* In a process that was forked, the device is this thread's alone. */
static void lock_anew(void)
{
    device = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    sim_lock();
}

__attribute__((constructor(101))) static void subscribe(void)
{
    sim_tell.process_begins.add(lock_anew);
}

/* ---- errors ---- */

static thread_local cudaError_t last_error;

cudaError_t sim_error(cudaError_t error, const char *why, const char *call, const void *at)
{
    const sim_lock_guard guard;
    last_error = error;
    sim_call_returns(error, why, call, at);
    return error;
}

void sim_throw_away(cudaError_t error)
{
    const sim_lock_guard guard;
    if (error != cudaSuccess)
        sim_tell.thrown_away(error, true);
}

cudaError_t cudaPeekAtLastError(void)
{
    sim_tell.looked_at(cudaSuccess);
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;

    sim_tell.looked_at(cudaSuccess);
    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text)                                                                                              \
    {                                                                                                                  \
        name, #name, text                                                                                              \
    }
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    ERROR(cudaErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"),
    ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    ERROR(cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed"),
    ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"),
    ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"),
    ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    ERROR(cudaErrorLaunchFileScopedTex,
          "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"),
    ERROR(cudaErrorLaunchFileScopedSurf,
          "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"),
    ERROR(cudaErrorSyncDepthExceeded,
          "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
    ERROR(cudaErrorLaunchPendingCountExceeded,
          "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    ERROR(cudaErrorNotMapped, "resource not mapped"),
    ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    ERROR(cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"),
    ERROR(cudaErrorUnsupportedDevSideSync, "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    ERROR(cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    ERROR(cudaErrorFileNotFound, "file not found"),
    ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    ERROR(cudaErrorInvalidPc, "invalid program counter"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    ERROR(cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination"),
    ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility was attempted on non supported HW"),
    ERROR(cudaErrorMpsConnectionFailed, "MPS client failed to connect to the MPS control daemon or the MPS server"),
    ERROR(cudaErrorMpsRpcFailure, "the remote procedural call between the MPS server and the MPS client failed"),
    ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    ERROR(cudaErrorMpsMaxClientsReached, "the hardware resources required to create MPS client have been exhausted"),
    ERROR(cudaErrorMpsMaxConnectionsReached,
          "the hardware resources required to support device connections have been exhausted"),
    ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    ERROR(cudaErrorCdpNotSupported,
          "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    ERROR(cudaErrorCdpVersionMismatch,
          "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(cudaErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(cudaErrorTimeout, "wait operation timed out"),
    ERROR(cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which "
                                           "violated constraints specific to instantiated graph update"),
    ERROR(cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"),
    ERROR(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    ERROR(cudaErrorFunctionNotLoaded,
          "the function handle is not loaded when calling an API that requires a loaded function"),
    ERROR(cudaErrorInvalidResourceType,
          "one or more resources passed in are not valid resource types for the operation"),
    ERROR(cudaErrorInvalidResourceConfiguration,
          "one or more resources are insufficient or non-applicable for the operation"),
    ERROR(cudaErrorUnknown, "unknown error"),
#undef ERROR
};

const char *cudaGetErrorName(cudaError_t error)
{
    if (error != cudaSuccess)
        sim_tell.looked_at(error);
    for (const auto &e : errors)
        if (e.error == error)
            return e.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    if (error != cudaSuccess)
        sim_tell.looked_at(error);
    for (const auto &e : errors)
        if (e.error == error)
            return e.text;
    return "unrecognized error code";
}

/* ---- for programs (counts.h) ---- */

void sim_watch_calls(bool on, int fails)
{
    const sim_lock_guard guard;
    watched = on;
    number = 0;
    to_fail = on ? fails : -1;
    is_asked = false;
    calls.clear();
}

size_t sim_num_calls(void)
{
    return calls.size();
}

struct sim_call_made sim_get_call(size_t i)
{
    const struct called *call = &calls[i];

    return {call->kernel != NULL ? call->kernel : call->call.name,
            call->kernel != NULL,
            call->can_fail,
            call->error,
            call->stream,
            call->event};
}

void sim_locate_made(size_t i, char *text, size_t size)
{
    sim_locate_call(&calls[i].call, text, size);
}
