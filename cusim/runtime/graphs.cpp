/* SPDX-License-Identifier: MIT */
/* graphs.cpp - graphs, made node by node or captured (stream.cpp). When one is instantiated its nodes are put into an
   order that its edges allow, the youngest first. */
#include <algorithm>
#include <set>
#include <string.h>

#include "../include/cuda_runtime.h"
#include "../machine/announce.h"
#include "host.h"
#include "memory.h"
#include "queues.h"
#include "stream.h"

/* A node goes on with the line of one that it comes after, or begins another. */
struct step {
    sim_queued what;
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

/* Those that there are: where a graph could not be captured, a program has none, and may launch it all the same. */
static std::set<const CUgraphExec_st *> &execs = *new std::set<const CUgraphExec_st *>();

static cudaError_t no_such_exec(void)
{
    return sim_error(
        cudaErrorInvalidValue,
        "there is no such executable graph. See what cudaStreamEndCapture and cudaGraphInstantiate returned");
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (exec == NULL || graph == NULL)
        return sim_error(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st();
    execs.insert(*exec);
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
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
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

static std::vector<sim_queued> copies_of(cudaGraph_t graph)
{
    std::vector<sim_queued> tasks;
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
        for (const sim_queued &t : nodes)
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
    sim_queue_of(NULL)->captured = &launch;
    const cudaError_t error = cudaLaunchKernel((const void *)params->func, params->gridDim, params->blockDim,
                                               params->kernelParams, params->sharedMemBytes, NULL);
    sim_queue_of(NULL)->captured = NULL;
    sim_queue_of(NULL)->after.clear();
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

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorLaunchFailure);
    if (execs.count(exec) == 0)
        return no_such_exec();
    if (sim_queue_of(stream) == NULL)
        return sim_error(cudaErrorInvalidResourceHandle);
    CUstream_st *const s = sim_queue_of(stream);
    std::vector<sim_queued> tasks;
    if (s->captured == NULL) {
        sim_learn_what_is_before(s);
        sim_learn(&s->known, exec->known);
    }
    for (const step &step : exec->steps) {
        tasks.push_back(step.what);
        if (s->captured != NULL)
            continue;
        sim_known known = s->known;
        for (size_t before : step.after)
            sim_learn(&known, tasks[before].task->known);
        tasks.back().task = sim_new_task(step.line, known, step.what.call, "graph", sim_call.at, NULL);
    }
    for (const sim_queued &t : tasks)
        if (t.task != NULL)
            sim_learn(&s->known, t.task->known);
    exec->known = s->known;
    const uint64_t number = exec->number;
    sim_do(stream, [tasks, number, from = exec->stream] {
        CUstream_st *const other = sim_queue_of(from);
        if (other != NULL && number > 0)
            sim_run_up_to(other, number);
        for (const sim_queued &t : tasks)
            if (t.task != NULL)
                sim_run_queued(t);
            else
                t.what();
    });
    if (s->captured == NULL) {
        exec->stream = stream;
        exec->number = sim_last_number;
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
    if (execs.erase(exec) == 0)
        return no_such_exec();
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
