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

/* Remembers an error for cudaGetLastError of the calling host thread, and who got it. */
cudaError_t sim_error(cudaError_t error, const char *call = __builtin_FUNCTION(),
                      const void *at = __builtin_return_address(0));

/* The call of the API that is being answered, and who called it. */
struct sim_call {
    const char *name;
    const void *at;
};
extern struct sim_call sim_call;

/* What the program must give back (leaks.cpp). `what`: "stream"; NULL: memory, of that size. */
void sim_made(const void *thing, const char *what, size_t size);
void sim_gone(const void *thing); /* NULL: all */

void sim_enter(const char *name, const void *at);
void sim_leave(void);
void sim_erred(cudaError_t error, const char *call, const void *at);
void sim_looked_at(cudaError_t error); /* cudaSuccess: at all of them */

/* As long as one of these lives, the device is the calling host thread's alone (sim.h). */
struct sim_lock_guard {
    sim_lock_guard()
    {
        sim_lock();
    }
    ~sim_lock_guard()
    {
        sim_unlock();
    }
};

/* The same, in a function of the API: the first one is what messages call it. */
struct sim_guard {
    sim_guard(const char *name = __builtin_FUNCTION(), const void *at = __builtin_return_address(0))
    {
        sim_lock();
        sim_enter(name, at);
    }
    ~sim_guard()
    {
        sim_leave();
        sim_unlock();
    }
};

#endif
