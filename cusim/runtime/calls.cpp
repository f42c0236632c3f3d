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

bool sim_fails(cudaError_t error)
{
    return !sim_is_inner() && is_the_one(error, {sim_call, NULL, true, cudaSuccess});
}

bool sim_launch_fails(cudaError_t error, const char *kernel)
{
    return is_the_one(error, {sim_call, kernel, true, cudaSuccess});
}

static void remember_error(cudaError_t error, const struct sim_call &call)
{
    if (!watched || error == cudaSuccess)
        return;
    if (!calls.empty() && calls.back().call.at == call.at)
        calls.back().error = error;
    else
        calls.push_back({call, NULL, false, error});
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
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
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

    return {call->kernel != NULL ? call->kernel : call->call.name, call->kernel != NULL, call->can_fail, call->error};
}

void sim_locate_made(size_t i, char *text, size_t size)
{
    sim_locate_call(&calls[i].call, text, size);
}
