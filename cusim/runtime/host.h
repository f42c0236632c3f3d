/* SPDX-License-Identifier: MIT */
/* host.h - the host API's own state, for the other parts. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "../include/cuda_runtime_api.h"
#include "../counts.h"
#include "tasks.h"

extern int sim_num_devices;
extern thread_local int sim_device;      /* of the calling host thread */
bool sim_reaches(int device, int owner); /* whether kernels of one may touch memory of the other */

/* Remembers an error for cudaGetLastError of the calling host thread, and who got it. `why`: a sentence for messages,
   what is wrong and what to do, or NULL. */
cudaError_t sim_error(cudaError_t error, const char *why = NULL, const char *call = __builtin_FUNCTION(),
                      const void *at = __builtin_return_address(0));

extern struct sim_call sim_call; /* the one that is being answered (tasks.h) */

/* A call of the API begins and ends, by whoever guards it (below). Whether it is made by another one. */
void sim_enter(const struct sim_call &call);
void sim_leave(void);
bool sim_is_inner(void);
void sim_call_returns(cudaError_t error, const char *why, const char *call,
                      const void *at); /* what it has gone wrong with, or success */

/* Whether the call of the API that is being answered is to fail (calls.cpp): a call that a program has to check, and
   `error' is what it returns then on a GPU. The second one is for launches. */
bool sim_fails(cudaError_t error);
bool sim_launch_fails(cudaError_t error, const char *kernel);

/* The call that is being answered is queued on this stream, and records this event or waits for it (NULL: none). */
void sim_call_is_on(cudaStream_t stream, cudaEvent_t event);

/* While one of these lives, a stream calls a function of the host, which may call nothing of the API. */
struct sim_host_function {
    sim_host_function();
    ~sim_host_function();
    const struct sim_call by; /* the call that waits for it, */
    const unsigned depth;     /* and how deep that is in others */
};
extern bool sim_in_host_function;
extern const char *const sim_calls_nothing; /* why its calls fail */

#define SIM_MAY_FAIL(error)                                                                                            \
    if (sim_in_host_function)                                                                                          \
        return sim_error(cudaErrorNotPermitted, sim_calls_nothing);                                                    \
    if (sim_fails(error))                                                                                              \
    return sim_error(error)

/* The simulator runs one kernel at a time: host threads that call it wait for each other. Between these two, which may
   be nested, the device is the caller's alone. */
void sim_lock(void);
bool sim_try_lock(void); /* false: another thread has it */
void sim_unlock(void);

/* The same, as long as one of these lives. */
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
        sim_enter({name, at, NULL, 0});
    }
    explicit sim_guard(const struct sim_call &call)
    {
        sim_lock();
        sim_enter(call);
    }
    ~sim_guard()
    {
        sim_leave();
        sim_unlock();
    }
};

#endif
