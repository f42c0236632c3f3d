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

void sim_lock_anew(void); /* in a process that was forked: the device is this thread's alone (sim.h) */

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
