/* SPDX-License-Identifier: MIT */
/* stream.h - streams as queues that run late on purpose: nothing of a stream is done before somebody waits for it. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <functional>

#include "include/cuda_runtime_api.h"

/* What a stream does: at once on the default stream (behind all that others have to do before), else when it is waited
   for. In a stream that is captured: a node of the graph, and may run many times. `at`: who asked for it. */
void sim_do(cudaStream_t stream, const void *at, std::function<void()> what);

/* The same, on the default stream late, too. */
void sim_do_late(cudaStream_t stream, const void *at, std::function<void()> what);

/* Whether this may be called on the stream: false for one that was destroyed or never made. */
bool sim_is_stream(cudaStream_t stream);

/* Whether the stream is being captured. */
bool sim_is_captured(cudaStream_t stream);

/* Does what the stream has to do, or all of them. */
void sim_finish(cudaStream_t stream);
void sim_finish_all(void);

/* Whether anything waits to be done. */
bool sim_has_late(void);

/* Gives each thing that waits to be done: the call of the API, and who called it. */
void sim_each_late(const std::function<void(const char *call, const void *at)> &tell);

#endif
