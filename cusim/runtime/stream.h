/* SPDX-License-Identifier: MIT */
/* stream.h - streams as queues that run late on purpose: nothing of a stream is done before somebody waits for it. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <functional>

#include "../include/cuda_runtime_api.h"
#include "tasks.h"

/* What a stream does: at once on the default stream (behind all that others have to do before), else when it is waited
   for. In a stream that is captured: a node of the graph, and may run many times. Returns the
   task; NULL: a node. */
sim_task_ref sim_do(cudaStream_t stream, std::function<void()> what);

/* The same, on the default stream late, too. */
sim_task_ref sim_do_late(cudaStream_t stream, std::function<void()> what);

/* Now, behind all that the stream has to do. Whether the host knows then that it is done. */
void sim_do_now(cudaStream_t stream, std::function<void()> what, bool host_waits);

/* Whether this may be called on the stream: false for one that was destroyed or never made. */
bool sim_is_stream(cudaStream_t stream);

/* Whether the stream is being captured. */
bool sim_is_captured(cudaStream_t stream);

/* Does what the stream has to do, or all of them. */
void sim_finish(cudaStream_t stream);
void sim_finish_all(void);

/* The same as cudaDeviceSynchronize: all is done, and the host knows. */
void sim_wait_for_all(void);

/* Whether anything waits to be done. */
bool sim_has_late(void);

/* Gives what nobody has waited for: each thing that is still to be done, and of each stream the last kernel, graph or
   asynchronous copy that is. */
void sim_each_unwaited(const std::function<void(const struct sim_call &call, bool is_done)> &tell);

#endif
