/* SPDX-License-Identifier: MIT */
/* host.h - what the host API remembers for the other parts. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "include/cuda_runtime_api.h"
#include "sim.h"

/* What a kernel has been given, kept from one launch to the next. */
struct sim_kernel_info {
    const void *kernel;
    size_t max_dynamic;  /* dynamic shared memory that it may ask for */
    size_t static_bytes; /* static shared memory seen so far */
    int carveout;
    bool large_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed */
};
struct sim_kernel_info *sim_find_kernel(const void *kernel);

extern int sim_num_devices;
extern thread_local int sim_device;      /* of the calling host thread */
extern int sim_running_device;           /* of the kernel that runs */
bool sim_reaches(int device, int owner); /* whether kernels of one may touch memory of the other */

cudaError_t sim_error(cudaError_t error); /* remembers an error for cudaGetLastError of the calling host thread */

/* A call of the host API, as long as it lasts (calls.cpp): the one that is to fail `fails', and its caller returns
   sim_error(error) then. error: what it returns when it fails on a GPU; cudaSuccess: it never does, as calls that give
   something back. */
struct sim_call {
    sim_call(const char *name, const void *caller, cudaError_t error);
    sim_call(const char *kernel, const char *file, int line, cudaError_t error); /* a launch */
    ~sim_call();
    bool fails;
};
void sim_call_returns(cudaError_t error); /* what the call that lasts has gone wrong with */

#define SIM_CALL(error)                                                                                                \
    const sim_call call(__func__, __builtin_return_address(0), error);                                                 \
    if (call.fails)                                                                                                    \
    return sim_error(error)

/* As long as one of these lives, the device is the calling host thread's alone (sim.h). */
struct sim_guard {
    sim_guard()
    {
        sim_lock();
    }
    ~sim_guard()
    {
        sim_unlock();
    }
};

#endif
