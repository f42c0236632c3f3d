/* SPDX-License-Identifier: MIT */
/* stream.cpp - streams, events, host functions and graphs.

   A stream is a queue. What is put into it is done when somebody waits for it, and not before: a program that forgets
   to wait finds nothing there, on every run, and not on some.

       cudaMemcpyAsync(..., a)   kernel<<<..., a>>>   cudaEventRecord(e, a)       a: | copy | kernel | e |
       cudaStreamWaitEvent(b, e)   kernel<<<..., b>>>                             b: | after e | kernel |
       cudaStreamSynchronize(b)  does b's queue from its beginning; "after e" does a's, up to e

   Each task has a number, in the order in which they were put into queues. The default stream (0) and the others that
   are not cudaStreamNonBlocking wait for each other: a task of one begins when the earlier ones of the other are done.
   The default stream is not late, but for copies from and to pinned memory and what stands behind one, and where there
   is managed memory. */
#include <deque>
#include <new>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "../machine/fault.h"
#include "host.h"
#include "../include/cuda_runtime.h"
#include "memory.h"
#include "stream.h"
#include "tasks.h"
#include "../machine/announce.h"

struct task {
    uint64_t number;
    struct sim_call call; /* that asked for it */
    std::function<void()> what;
    sim_task_ref task; /* what it comes after; of a graph's none until the graph is launched */
};

/* A graph that was captured has nodes, too: each comes after the last ones of its stream, and after those that an event
   of another stream was recorded behind. When it is instantiated, they are put into an order that is right. */
struct CUgraphNode_st {
    task what;
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
    std::deque<task> tasks;
    unsigned line;                       /* of the search for races (tasks.h), */
    sim_known known;                     /* and what its last task knows */
    const void *at;                      /* who made it; NULL: the default stream */
    CUgraph_st *captured;                /* NULL: it is not being captured */
    bool began;                          /* the capture, or joined it by an event */
    std::vector<CUgraphNode_st *> after; /* what its next node comes after */
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

static CUstream_st &default_stream = *new CUstream_st{0, 0, {}, 1, {}, NULL, NULL, false, {}};
static std::vector<CUstream_st *> &streams = *new std::vector<CUstream_st *>(); /* that live, but the default one */
static uint64_t last_number;
static sim_known &gone = *new sim_known(); /* what destroyed streams have done */

/* The queue of a stream; NULL when there is none. */
static CUstream_st *queue_of(cudaStream_t stream)
{
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return &default_stream;
    for (CUstream_st *s : streams)
        if (s == stream)
            return s;
    return NULL;
}

bool sim_is_stream(cudaStream_t stream)
{
    return queue_of(stream) != NULL;
}

bool sim_is_captured(cudaStream_t stream)
{
    const CUstream_st *s = queue_of(stream);
    return s != NULL && s->captured != NULL;
}

bool sim_has_late(void)
{
    for (const CUstream_st *s : streams)
        if (!s->tasks.empty())
            return true;
    return !default_stream.tasks.empty();
}

void sim_each_late(const std::function<void(const struct sim_call &call)> &tell)
{
    for (size_t i = 0; i <= streams.size(); i++)
        for (const task &t : i == 0 ? default_stream.tasks : streams[i - 1]->tasks)
            if (strstr(t.call.name, "Event") == NULL)
                tell(t.call);
}

static bool waits_for_default(const CUstream_st *s)
{
    return !(s->flags & cudaStreamNonBlocking);
}

/* Does the tasks of a queue up to a number, and before each what must be done before it. */
static void run_up_to(CUstream_st *s, uint64_t number)
{
    while (!s->tasks.empty() && s->tasks.front().number <= number) {
        const task next = s->tasks.front();
        if (s == &default_stream) {
            for (size_t i = 0; i < streams.size(); i++)
                if (waits_for_default(streams[i]))
                    run_up_to(streams[i], next.number - 1);
        } else if (waits_for_default(s)) {
            run_up_to(&default_stream, next.number - 1);
        }
        if (s->tasks.empty() || s->tasks.front().number != next.number)
            continue; /* that did it, too */
        s->tasks.pop_front();
        const sim_running_task runs(next.task);
        next.what();
    }
}

void sim_finish(cudaStream_t stream)
{
    CUstream_st *s = queue_of(stream);
    if (s == NULL || sim_in_task())
        return;
    if (s == &default_stream) /* it has earlier work of others to wait for, though it has nothing to do itself */
        for (size_t i = 0; i < streams.size(); i++)
            if (waits_for_default(streams[i]))
                run_up_to(streams[i], last_number);
    run_up_to(s, last_number);
}

void sim_finish_all(void)
{
    if (sim_in_task())
        return;
    for (size_t i = streams.size(); i-- > 0;) /* the youngest first: what needs an event of another one finds it so */
        run_up_to(streams[i], last_number);
    run_up_to(&default_stream, last_number);
}

/* ---- what comes before what ---- */

/* What a stream's next task will know: what its last one did, what the host has waited for, and as the default stream
   and the others wait for each other, what these did. */
static void learn_what_is_before(CUstream_st *s)
{
    sim_learn(&s->known, sim_host_knows());
    if (s == &default_stream) {
        sim_learn(&s->known, gone);
        for (const CUstream_st *other : streams)
            if (waits_for_default(other))
                sim_learn(&s->known, other->known);
    } else if (waits_for_default(s)) {
        sim_learn(&s->known, default_stream.known);
    }
}

static task new_task(CUstream_st *s, const std::function<void()> &what)
{
    learn_what_is_before(s);
    const sim_task_ref t = sim_new_task(s->line, s->known, sim_call, "stream", s->at);
    s->known = t->known;
    sim_host_asked();
    return {++last_number, sim_call, what, t};
}

/* The host has waited for all that the stream has to do, or for all streams. */
static void host_waited(CUstream_st *s)
{
    if (s == &default_stream)
        learn_what_is_before(s);
    sim_host_learns(s->known);
}

static void host_waited_for_all(void)
{
    for (const CUstream_st *s : streams)
        sim_host_learns(s->known);
    host_waited(&default_stream);
}

void sim_wait_for_all(void)
{
    sim_finish_all();
    if (!sim_in_task())
        host_waited_for_all();
}

/* ---- putting into a queue ---- */

sim_task_ref sim_do_late(cudaStream_t stream, std::function<void()> what)
{
    CUstream_st *s = queue_of(stream);
    if (s->captured != NULL) {
        CUgraphNode_st *const node = new CUgraphNode_st{{0, sim_call, what, NULL}, s->after, false, 0};
        s->captured->nodes.push_back(node);
        s->after = {node};
        return NULL;
    }
    s->tasks.push_back(new_task(s, what));
    return s->tasks.back().task;
}

static void run_now(const task &t)
{
    const sim_running_task runs(t.task);
    t.what();
}

sim_task_ref sim_do(cudaStream_t stream, std::function<void()> what)
{
    CUstream_st *s = queue_of(stream);
    if (s != &default_stream || !s->tasks.empty() || sim_has_managed || s->captured != NULL)
        return sim_do_late(stream, what);
    const task now = new_task(s, what);
    sim_finish(stream);
    run_now(now);
    return now.task;
}

void sim_do_now(cudaStream_t stream, std::function<void()> what, bool host_waits)
{
    CUstream_st *s = queue_of(stream);
    if (sim_in_task()) { /* of a graph: a copy, for example */
        what();
        return;
    }
    sim_finish(stream);
    run_now(new_task(s, what));
    if (host_waits)
        host_waited(s);
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (stream == NULL || flags > cudaStreamNonBlocking)
        return sim_error(cudaErrorInvalidValue);
    *stream = new (std::nothrow) CUstream_st();
    if (*stream == NULL)
        return sim_error(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    (*stream)->priority = priority;
    (*stream)->line = sim_new_line();
    (*stream)->at = sim_call.at;
    streams.push_back(*stream);
    sim_num_lines++;
    sim_tell.made(*stream, "stream", 0);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return cudaSuccess;
}

/* What a destroyed stream still has to do is done, as on a GPU; nobody can wait for it any more. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const sim_guard guard;
    CUstream_st *s = queue_of(stream);
    if (s == NULL || s == &default_stream)
        return sim_error(cudaErrorInvalidResourceHandle);
    run_up_to(s, last_number);
    sim_learn(&gone, s->known);
    sim_end_line(s->line);
    sim_num_lines--;
    for (size_t i = 0; i < streams.size(); i++)
        if (streams[i] == s) {
            streams.erase(streams.begin() + (long)i);
            break;
        }
    sim_tell.gone(s);
    delete s;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorLaunchFailure);
    if (queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (sim_is_captured(stream))
        return sim_error(cudaErrorStreamCaptureUnsupported);
    sim_finish(stream);
    host_waited(queue_of(stream));
    return cudaSuccess;
}

/* Whoever asks again and again sees it end: each question does one task. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const sim_guard guard;
    CUstream_st *s = queue_of(stream);
    if (s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (s->tasks.empty()) {
        sim_host_learns(s->known);
        return cudaSuccess;
    }
    run_up_to(s, s->tasks.front().number);
    return cudaErrorNotReady;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    const CUstream_st *s = queue_of(stream);
    if (s == NULL || flags == NULL)
        return sim_error(cudaErrorInvalidValue);
    *flags = s->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    const CUstream_st *s = queue_of(stream);
    if (s == NULL || priority == NULL)
        return sim_error(cudaErrorInvalidValue);
    *priority = s->priority;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorLaunchFailure);
    sim_wait_for_all();
    return cudaSuccess;
}

/* ---- functions of the host ---- */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    const sim_guard guard;
    if (function == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_do(stream, [=] { function(data); });
    return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned)
{
    const sim_guard guard;
    if (function == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_do(stream, [=] { function(stream, cudaSuccess, data); });
    return cudaSuccess;
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (event == NULL || flags > (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))
        return sim_error(cudaErrorInvalidValue);
    *event = new (std::nothrow) CUevent_st();
    if (*event == NULL)
        return sim_error(cudaErrorMemoryAllocation);
    (*event)->timing = !(flags & cudaEventDisableTiming);
    (*event)->done = true;
    sim_tell.made(*event, "event", 0);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

static void wait_for(cudaEvent_t event, uint64_t recorded)
{
    CUstream_st *s = queue_of(event->stream);
    if (s != NULL && recorded > 0)
        run_up_to(s, recorded);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const sim_guard guard;
    if (event == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (!event->done)
        wait_for(event, event->recorded);
    sim_tell.gone(event);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidResourceHandle);
    CUstream_st *s = queue_of(stream);
    if (event == NULL || s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    event->captured = s->captured;
    event->after = s->after;
    if (s->captured != NULL)
        return cudaSuccess;
    event->stream = stream;
    event->recorded = last_number + 1;
    event->done = false;
    sim_do(stream, [event, number = event->recorded] {
        if (event->recorded == number || event->recorded == 0)
            event->done = true;
        event->nanoseconds = clock64();
    });
    event->known = s->known;
    if (event->done) /* at once */
        event->recorded = 0;
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned)
{
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorLaunchFailure);
    if (event == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (!event->done)
        wait_for(event, event->recorded);
    sim_host_learns(event->known);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const sim_guard guard;
    if (event == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (event->done) {
        sim_host_learns(event->known);
        return cudaSuccess;
    }
    cudaStreamQuery(event->stream);
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (ms == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (start == NULL || end == NULL || !start->timing || !end->timing || start->nanoseconds == 0 ||
        end->nanoseconds == 0)
        return sim_error(start != NULL && end != NULL && !(start->done && end->done) ? cudaErrorNotReady
                                                                                     : cudaErrorInvalidResourceHandle);
    if (!start->done || !end->done)
        return sim_error(cudaErrorNotReady);
    *ms = (float)((double)(end->nanoseconds - start->nanoseconds) * 1e-6);
    return cudaSuccess;
}

static bool is_being_captured(const CUgraph_st *graph)
{
    for (const CUstream_st *s : streams)
        if (s->captured == graph)
            return true;
    return false;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidResourceHandle);
    CUstream_st *s = queue_of(stream);
    if (event == NULL || s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (event->captured != NULL && !is_being_captured(event->captured))
        return sim_error(cudaErrorInvalidValue);
    if (event->captured != NULL) { /* the stream joins the capture */
        s->captured = event->captured;
        s->after.insert(s->after.end(), event->after.begin(), event->after.end());
        return cudaSuccess;
    }
    sim_learn(&s->known, event->known);
    if (event->done)
        return cudaSuccess;
    sim_do(stream, [event, number = event->recorded, from = event->stream] {
        CUstream_st *other = queue_of(from);
        if (other != NULL)
            run_up_to(other, number);
    });
    return cudaSuccess;
}

/* ---- graphs ---- */

/* A node goes on with the line of one that it comes after, or begins another. */
struct step {
    task what;
    unsigned line;
    std::vector<size_t> after;
};
struct CUgraphExec_st {
    std::vector<step> steps;
    std::vector<unsigned> lines;
    sim_known known;     /* of its last launch: the next one comes after that, */
    cudaStream_t stream; /* which is there, */
    uint64_t number;     /* and this task */
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    const sim_guard guard;
    CUstream_st *s = queue_of(stream);
    if (s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (s == &default_stream)
        return sim_error(cudaErrorStreamCaptureUnsupported);
    if (s->captured != NULL)
        return sim_error(cudaErrorIllegalState);
    s->captured = new CUgraph_st();
    s->began = true;
    s->after.clear();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const sim_guard guard;
    CUstream_st *s = queue_of(stream);
    if (s == NULL || graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (s->captured == NULL || !s->began)
        return sim_error(cudaErrorIllegalState);
    *graph = s->captured;
    sim_tell.made(*graph, "graph", 0);
    for (CUstream_st *other : streams)
        if (other->captured == *graph) {
            other->captured = NULL;
            other->after.clear();
        }
    s->began = false;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (status == NULL || queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidValue);
    *status = sim_is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

/* What a node comes after, then the node. */
static void put_in_order(CUgraphNode_st *node, std::vector<CUgraphNode_st *> *nodes)
{
    if (node->ordered)
        return;
    node->ordered = true;
    for (CUgraphNode_st *before : node->after)
        put_in_order(before, nodes);
    node->place = nodes->size();
    nodes->push_back(node);
}

static std::vector<CUgraphNode_st *> in_order(cudaGraph_t graph)
{
    std::vector<CUgraphNode_st *> nodes;
    for (CUgraphNode_st *node : graph->nodes)
        node->ordered = false;
    for (size_t i = graph->nodes.size(); i-- > 0;) /* the youngest first: only what is said orders them */
        put_in_order(graph->nodes[i], &nodes);
    return nodes;
}

static std::vector<step> steps_of(cudaGraph_t graph, std::vector<unsigned> *lines)
{
    std::vector<step> steps;
    std::vector<bool> goes_on(graph->nodes.size()); /* whether a step's line has been taken up by a later one */

    for (const CUgraphNode_st *node : in_order(graph)) {
        step s = {node->what, 0, {}};
        for (const CUgraphNode_st *before : node->after) {
            s.after.push_back(before->place);
            if (s.line == 0 && !goes_on[before->place]) {
                s.line = steps[before->place].line;
                goes_on[before->place] = true;
            }
        }
        if (s.line == 0)
            lines->push_back(s.line = sim_new_line());
        steps.push_back(s);
    }
    return steps;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (exec == NULL || graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st();
    (*exec)->steps = steps_of(graph, &(*exec)->lines);
    sim_tell.made(*exec, "executable graph", 0);
    return cudaSuccess;
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            std::function<void()> what)
{
    if (node == NULL || graph == NULL || (after == NULL && count > 0))
        return sim_error(cudaErrorInvalidValue);
    *node =
        new CUgraphNode_st{{0, sim_call, what, NULL}, std::vector<CUgraphNode_st *>(after, after + count), false, 0};
    graph->nodes.push_back(*node);
    return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
    const sim_guard guard;
    *graph = new CUgraph_st();
    sim_tell.made(*graph, "graph", 0);
    return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    const sim_guard guard;
    return add_node(node, graph, after, count, [] {});
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *copy)
{
    const sim_guard guard;
    return add_node(node, graph, after, count, [c = *copy] { cudaMemcpy3D(&c); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    const sim_guard guard;
    return add_node(node, graph, after, count, [=] { cudaMemcpy(dst, src, size, kind); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params)
{
    const sim_guard guard;
    if (params == NULL || (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return sim_error(cudaErrorInvalidValue);
    const struct cudaMemsetParams p = *params;
    return add_node(node, graph, after, count, [p] {
        std::vector<char> row(p.width * p.elementSize);
        for (size_t i = 0; i < row.size(); i++)
            row[i] = ((const char *)&p.value)[i % p.elementSize];
        for (size_t y = 0; y < (p.height > 0 ? p.height : 1); y++)
            cudaMemcpy((char *)p.dst + y * p.pitch, row.data(), row.size(), cudaMemcpyHostToDevice);
    });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *params)
{
    const sim_guard guard;
    return add_node(node, graph, after, count, [p = *params] { p.fn(p.userData); });
}

static std::vector<task> copies_of(cudaGraph_t graph)
{
    std::vector<task> tasks;
    for (const CUgraphNode_st *node : in_order(graph))
        tasks.push_back(node->what);
    return tasks;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child)
{
    const sim_guard guard;
    if (child == NULL)
        return sim_error(cudaErrorInvalidValue);
    return add_node(node, graph, after, count, [nodes = copies_of(child)] {
        for (const task &t : nodes)
            t.what();
    });
}

/* The arguments are taken when the node is made, as on a GPU: a launch that is captured keeps them. */
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *params)
{
    const sim_guard guard;
    CUgraph_st launch;
    if (params == NULL)
        return sim_error(cudaErrorInvalidValue);
    default_stream.captured = &launch;
    const cudaError_t error = cudaLaunchKernel((const void *)params->func, params->gridDim, params->blockDim,
                                               params->kernelParams, params->sharedMemBytes, NULL);
    default_stream.captured = NULL;
    default_stream.after.clear();
    if (error != cudaSuccess || launch.nodes.size() != 1)
        return error;
    const std::unique_ptr<CUgraphNode_st> made(launch.nodes[0]);
    return add_node(node, graph, after, count, made->what.what);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count)
{
    const sim_guard guard;
    if (graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        to[i]->after.push_back(from[i]);
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (graph == NULL || count == NULL)
        return sim_error(cudaErrorInvalidValue);
    for (size_t i = 0; nodes != NULL && i < *count && i < graph->nodes.size(); i++)
        nodes[i] = graph->nodes[i];
    *count = graph->nodes.size();
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    const sim_guard guard;
    std::vector<CUgraphNode_st *> &nodes = (*clone = new CUgraph_st())->nodes;
    for (const CUgraphNode_st *node : in_order(graph)) {
        nodes.push_back(new CUgraphNode_st{node->what, {}, false, 0});
        for (const CUgraphNode_st *before : node->after)
            nodes.back()->after.push_back(nodes[before->place]);
    }
    sim_tell.made(*clone, "graph", 0);
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, enum cudaStreamAttrID, const union cudaStreamAttrValue *)
{
    return queue_of(stream) != NULL ? cudaSuccess : sim_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorLaunchFailure);
    if (exec == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    CUstream_st *const s = queue_of(stream);
    std::vector<task> tasks;
    if (s->captured == NULL) {
        learn_what_is_before(s);
        sim_learn(&s->known, exec->known);
    }
    for (const step &step : exec->steps) {
        tasks.push_back(step.what);
        if (s->captured != NULL)
            continue;
        sim_known known = s->known;
        for (size_t before : step.after)
            sim_learn(&known, tasks[before].task->known);
        tasks.back().task = sim_new_task(step.line, known, step.what.call, "graph", sim_call.at);
    }
    for (const task &t : tasks)
        if (t.task != NULL)
            sim_learn(&s->known, t.task->known);
    exec->known = s->known;
    const uint64_t number = exec->number;
    sim_do(stream, [tasks, number, from = exec->stream] {
        CUstream_st *const other = queue_of(from);
        if (other != NULL && number > 0)
            run_up_to(other, number);
        for (const task &t : tasks)
            if (t.task != NULL)
                run_now(t);
            else
                t.what();
    });
    if (s->captured == NULL) {
        exec->stream = stream;
        exec->number = last_number;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t)
{
    return exec != NULL ? cudaSuccess : sim_error(cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    const sim_guard guard;
    if (exec == NULL)
        return sim_error(cudaErrorInvalidValue);
    sim_tell.gone(exec);
    for (unsigned line : exec->lines)
        sim_end_line(line);
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const sim_guard guard;
    if (graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    sim_tell.gone(graph);
    for (CUgraphNode_st *node : graph->nodes)
        delete node;
    delete graph;
    return cudaSuccess;
}
