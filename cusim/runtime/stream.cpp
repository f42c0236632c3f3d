/* SPDX-License-Identifier: MIT */
/* stream.cpp - streams, events, functions of the host, and what is captured.

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
#include <set>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "../machine/fault.h"
#include "host.h"
#include "../include/cuda_runtime.h"
#include "memory.h"
#include "queues.h"
#include "stream.h"
#include "tasks.h"
#include "../machine/announce.h"

bool sim_has_managed;

static CUstream_st &default_stream = *new CUstream_st{0, 0, {}, 1, {}, NULL, NULL, false, {}, NULL, NULL};
static std::vector<CUstream_st *> &streams = *new std::vector<CUstream_st *>(); /* that live, but the default one */
uint64_t sim_last_number;
static sim_known &gone = *new sim_known(); /* what destroyed streams have done */

/* The queue of a stream; NULL when there is none. */
CUstream_st *sim_queue_of(cudaStream_t stream)
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
    return sim_queue_of(stream) != NULL;
}

bool sim_is_captured(cudaStream_t stream)
{
    const CUstream_st *s = sim_queue_of(stream);
    return s != NULL && s->captured != NULL;
}

bool sim_has_late(void)
{
    for (const CUstream_st *s : streams)
        if (!s->tasks.empty())
            return true;
    return !default_stream.tasks.empty();
}

/* The last work of streams that were destroyed while nobody had waited for it. */
static std::vector<sim_task_ref> &gone_work = *new std::vector<sim_task_ref>();

void sim_each_unwaited(const std::function<void(const struct sim_call &call, bool is_done)> &tell)
{
    std::vector<sim_task_ref> work = gone_work;

    for (size_t i = 0; i <= streams.size(); i++) {
        const CUstream_st *const s = i == 0 ? &default_stream : streams[i - 1];
        for (const sim_queued &t : s->tasks)
            if (strstr(t.call.name, "Event") == NULL)
                tell(t.call, false);
        work.push_back(s->work);
    }
    for (const sim_task_ref &t : work)
        if (t != NULL && t->done && !sim_task_known(t))
            tell(t->call, true);
}

static bool waits_for_default(const CUstream_st *s)
{
    return !(s->flags & cudaStreamNonBlocking);
}

/* Does the tasks of a queue up to a number, and before each what must be done before it. */
void sim_run_up_to(CUstream_st *s, uint64_t number)
{
    while (!s->tasks.empty() && s->tasks.front().number <= number) {
        const sim_queued next = s->tasks.front();
        if (s == &default_stream) {
            for (size_t i = 0; i < streams.size(); i++)
                if (waits_for_default(streams[i]))
                    sim_run_up_to(streams[i], next.number - 1);
        } else if (waits_for_default(s)) {
            sim_run_up_to(&default_stream, next.number - 1);
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
    CUstream_st *s = sim_queue_of(stream);
    if (s == NULL || sim_in_task())
        return;
    if (s == &default_stream) /* it has earlier work of others to wait for, though it has nothing to do itself */
        for (size_t i = 0; i < streams.size(); i++)
            if (waits_for_default(streams[i]))
                sim_run_up_to(streams[i], sim_last_number);
    sim_run_up_to(s, sim_last_number);
}

void sim_finish_all(void)
{
    if (sim_in_task())
        return;
    for (size_t i = streams.size(); i-- > 0;) /* the youngest first: what needs an event of another one finds it so */
        sim_run_up_to(streams[i], sim_last_number);
    sim_run_up_to(&default_stream, sim_last_number);
}

/* ---- what comes before what ---- */

/* What a stream's next task will know: what its last one did, what the host has waited for, and as the default stream
   and the others wait for each other, what these did. */
void sim_learn_what_is_before(CUstream_st *s)
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

static bool is_work(const struct sim_call &call)
{
    return call.file != NULL || strcmp(call.name, "cudaGraphLaunch") == 0 ||
           (strstr(call.name, "Memcpy") != NULL && strstr(call.name, "Async") != NULL);
}

static sim_queued new_task(CUstream_st *s, const std::function<void()> &what)
{
    sim_learn_what_is_before(s);
    const sim_task_ref t = sim_new_task(s->line, s->known, sim_call, "stream", s->at, s->early_wait);
    s->known = t->known;
    if (is_work(sim_call))
        s->work = t;
    sim_host_asked();
    return {++sim_last_number, sim_call, what, t};
}

/* The host has waited for all that the stream has to do, or for all streams. */
static void host_waited(CUstream_st *s)
{
    if (s == &default_stream)
        sim_learn_what_is_before(s);
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
    CUstream_st *s = sim_queue_of(stream);
    sim_call_is_on(stream, NULL);
    if (s->captured != NULL) {
        CUgraphNode_st *const node = new CUgraphNode_st{{0, sim_call, what, NULL}, s->after, false, 0};
        s->captured->nodes.push_back(node);
        s->after = {node};
        return NULL;
    }
    s->tasks.push_back(new_task(s, what));
    return s->tasks.back().task;
}

void sim_run_queued(const sim_queued &t)
{
    const sim_running_task runs(t.task);
    t.what();
}

sim_task_ref sim_do(cudaStream_t stream, std::function<void()> what)
{
    CUstream_st *s = sim_queue_of(stream);
    if (s != &default_stream || !s->tasks.empty() || sim_has_managed || s->captured != NULL)
        return sim_do_late(stream, what);
    sim_call_is_on(stream, NULL);
    const sim_queued now = new_task(s, what);
    sim_finish(stream);
    sim_run_queued(now);
    return now.task;
}

void sim_do_now(cudaStream_t stream, std::function<void()> what, bool host_waits)
{
    CUstream_st *s = sim_queue_of(stream);
    if (sim_in_task()) { /* of a graph: a copy, for example */
        what();
        return;
    }
    sim_call_is_on(stream, NULL);
    sim_finish(stream);
    sim_run_queued(new_task(s, what));
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
    CUstream_st *s = sim_queue_of(stream);
    if (s == NULL || s == &default_stream)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_run_up_to(s, sim_last_number);
    sim_learn(&gone, s->known);
    if (!sim_task_known(s->work))
        gone_work.push_back(s->work);
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
    if (sim_queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (sim_is_captured(stream))
        return sim_error(
            cudaErrorStreamCaptureUnsupported,
            "the stream is being captured, and does nothing that one could wait for. Leave it out, and wait "
            "behind cudaGraphLaunch");
    sim_finish(stream);
    host_waited(sim_queue_of(stream));
    return cudaSuccess;
}

/* Whoever asks again and again sees it end: each question does one task. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const sim_guard guard;
    CUstream_st *s = sim_queue_of(stream);
    if (s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (s->tasks.empty()) {
        sim_host_learns(s->known);
        return cudaSuccess;
    }
    sim_run_up_to(s, s->tasks.front().number);
    return cudaErrorNotReady;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    const CUstream_st *s = sim_queue_of(stream);
    if (s == NULL || flags == NULL)
        return sim_error(cudaErrorInvalidValue);
    *flags = s->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    const CUstream_st *s = sim_queue_of(stream);
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
    if (sim_queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_do(stream, [=] {
        const sim_host_function calls_nothing;
        function(data);
    });
    return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned)
{
    const sim_guard guard;
    if (function == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (sim_queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_do(stream, [=] {
        const sim_host_function calls_nothing;
        function(stream, cudaSuccess, data);
    });
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
    CUstream_st *s = sim_queue_of(event->stream);
    if (s != NULL && recorded > 0)
        sim_run_up_to(s, recorded);
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
    CUstream_st *s = sim_queue_of(stream);
    if (event == NULL || s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    sim_call_is_on(stream, event);
    event->captured = s->captured;
    event->after = s->after;
    if (s->captured != NULL)
        return cudaSuccess;
    event->stream = stream;
    event->recorded = sim_last_number + 1;
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
    if (start == NULL || end == NULL || !start->timing || !end->timing)
        return sim_error(cudaErrorInvalidResourceHandle,
                         "there is no such event, or it was made with cudaEventDisableTiming. Make both with "
                         "cudaEventCreate");
    if (!start->done || !end->done || !sim_host_has_learned(start->known) || !sim_host_has_learned(end->known))
        return sim_error(cudaErrorNotReady, "the events are recorded, but not done. Call cudaEventSynchronize for the "
                                            "second one before");
    if (start->nanoseconds == 0 || end->nanoseconds == 0)
        return sim_error(cudaErrorInvalidResourceHandle,
                         "an event was never recorded. Call cudaEventRecord for the first one before what is measured, "
                         "and for the second one behind it");
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
    CUstream_st *s = sim_queue_of(stream);
    if (event == NULL || s == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    if (event->captured != NULL && !is_being_captured(event->captured))
        return sim_error(cudaErrorInvalidValue);
    sim_call_is_on(stream, event);
    if (event->captured != NULL) { /* the stream joins the capture */
        s->captured = event->captured;
        s->after.insert(s->after.end(), event->after.begin(), event->after.end());
        return cudaSuccess;
    }
    sim_learn(&s->known, event->known);
    s->early_wait = event->known.empty() ? sim_call.at : NULL;
    if (event->done)
        return cudaSuccess;
    sim_do(stream, [event, number = event->recorded, from = event->stream] {
        CUstream_st *other = sim_queue_of(from);
        if (other != NULL)
            sim_run_up_to(other, number);
    });
    return cudaSuccess;
}

/* ---- capture ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    const sim_guard guard;
    CUstream_st *s = sim_queue_of(stream);
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

/* Whether a node is among those, or one of these comes after it. */
static bool comes_before(const CUgraphNode_st *node, const std::vector<CUgraphNode_st *> &those)
{
    std::vector<const CUgraphNode_st *> todo(those.begin(), those.end());
    std::set<const CUgraphNode_st *> seen;

    while (!todo.empty()) {
        const CUgraphNode_st *const next = todo.back();
        todo.pop_back();
        if (next == node)
            return true;
        if (seen.insert(next).second)
            todo.insert(todo.end(), next->after.begin(), next->after.end());
    }
    return false;
}

/* A capture ends with all that streams which joined it have put into it. */
static bool is_joined(const CUstream_st *joined, const CUstream_st *origin)
{
    for (const CUgraphNode_st *node : joined->after)
        if (!comes_before(node, origin->after))
            return false;
    return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const sim_guard guard;
    CUstream_st *s = sim_queue_of(stream);
    if (s == NULL || graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (s->captured == NULL || !s->began)
        return sim_error(cudaErrorIllegalState);
    CUgraph_st *const captured = s->captured;
    bool all_joined = true;
    for (const CUstream_st *other : streams)
        all_joined = all_joined && (other->captured != captured || is_joined(other, s));
    for (CUstream_st *other : streams)
        if (other->captured == captured) {
            other->captured = NULL;
            other->after.clear();
        }
    s->began = false;
    *graph = NULL;
    if (!all_joined)
        return sim_error(cudaErrorStreamCaptureUnjoined,
                         "a stream that has joined the capture has work behind which this one does not stand. Call "
                         "cudaEventRecord in that stream and cudaStreamWaitEvent in this one before");
    *graph = captured;
    sim_tell.made(*graph, "graph", 0);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (status == NULL || sim_queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidValue);
    *status = sim_is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, enum cudaStreamAttrID, const union cudaStreamAttrValue *)
{
    return sim_queue_of(stream) != NULL ? cudaSuccess : sim_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}
