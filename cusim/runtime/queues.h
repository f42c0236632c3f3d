/* SPDX-License-Identifier: MIT */
/* queues.h - streams and graphs as what they consist of, for stream.cpp and graphs.cpp. */
#ifndef SIM_QUEUES_H
#define SIM_QUEUES_H

#include <deque>
#include <functional>
#include <vector>

#include "../include/cuda_runtime_api.h"
#include "tasks.h"

struct sim_queued {
    uint64_t number;
    struct sim_call call; /* that asked for it */
    std::function<void()> what;
    sim_task_ref task; /* what it comes after; of a graph's none until the graph is launched */
};

/* A graph that was captured has nodes, too: each comes after the last ones of its stream, and after those that an event
   of another stream was recorded behind. When it is instantiated, they are put into an order that is right. */
struct CUgraphNode_st {
    sim_queued what;
    std::vector<CUgraphNode_st *> after;
    bool ordered;
    size_t place; /* in that order */
};
struct CUgraph_st {
    std::vector<CUgraphNode_st *> nodes;
};

struct CUstream_st {
    unsigned flags;
    int priority;
    std::deque<sim_queued> tasks;
    unsigned line;                       /* of the search for races (tasks.h), */
    sim_known known;                     /* and what its last task knows */
    const void *at;                      /* who made it; NULL: the default stream */
    CUgraph_st *captured;                /* NULL: it is not being captured */
    bool began;                          /* the capture, or joined it by an event */
    std::vector<CUgraphNode_st *> after; /* what its next node comes after */
    sim_task_ref work;                   /* the last kernel, graph or asynchronous copy */
    const void *early_wait;              /* for an event that was not recorded yet, the last one; or NULL */
};

struct CUevent_st {
    bool timing;
    uint64_t recorded; /* number of the task that records it, 0: none */
    bool done;
    cudaStream_t stream; /* of that task */
    sim_known known;     /* what is done when that is done */
    CUgraph_st *captured;
    std::vector<CUgraphNode_st *> after; /* in that graph */
    long long nanoseconds;
};

/* The queue of a stream; NULL when there is none. */
CUstream_st *sim_queue_of(cudaStream_t stream);

/* What a stream's next task will know: what its last one did, what the host has waited for, and as the default stream
   and the others wait for each other, what these did. */
void sim_learn_what_is_before(CUstream_st *s);

void sim_run_up_to(CUstream_st *s, uint64_t number); /* does what is in the queue, up to this task */
void sim_run_queued(const sim_queued &task);

extern uint64_t sim_last_number; /* of the last task that was put into any queue */

#endif
