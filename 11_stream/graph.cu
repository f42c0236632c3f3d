/* SPDX-License-Identifier: MIT */
/* graph.cu - as launches.cu, but the launches are written down once, as a graph. Whoever launches the graph launches
   all of them.

       once       begin of capture, launch 0, launch 1, launch 2, ..., end of capture     nothing runs
       each run   one launch of the graph                                                 all of them run  */
#include "streams.h"

static cudaGraphExec_t capture(struct job *job, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "no capture");
    queue_steps(job, stream);
    need(cudaStreamEndCapture(stream, &graph), "no capture");
    need(cudaGraphInstantiate(&exec, graph, 0), "no graph");
    need(cudaGraphDestroy(graph), "no graph");
    return exec;
}

void run_graph(struct job *job)
{
    const cudaStream_t stream = job->streams[0];
    const struct piece all = job_piece(job, 0);

    if (job->graph == NULL)
        job->graph = capture(job, stream);
    copy_in(job, &job->slots[0], all, stream);
    need(cudaGraphLaunch(job->graph, stream), "the graph was not launched");
    copy_out(job, &job->slots[0], all, stream);
    need(cudaStreamSynchronize(stream), "a kernel failed");
    job->launches = 1;
}
