/* SPDX-License-Identifier: MIT */
/* parts.cu - the parts of a pass, each by itself, and the roof: the bus's own copies, both ways at once. Large
   pieces as they lie in memory; the kernel on pieces of the usual size. No results. */
#include "streams.h"

static void all_in(struct job *job, cudaStream_t stream)
{
    for (size_t p = 0; p < job->num_pieces; p++)
        copy_in(job, &job->slots[p % 2], job_piece(job, p), stream);
}

static void all_out(struct job *job, cudaStream_t stream)
{
    for (size_t p = 0; p < job->num_pieces; p++)
        copy_out(job, &job->slots[p % 2], job_piece(job, p), stream);
}

void run_in_only(struct job *job)
{
    all_in(job, job->streams[0]);
    need(cudaStreamSynchronize(job->streams[0]), "no copy");
}

void run_out_only(struct job *job)
{
    all_out(job, job->streams[2]);
    need(cudaStreamSynchronize(job->streams[2]), "no copy");
}

void run_both_ways(struct job *job)
{
    all_in(job, job->streams[0]);
    all_out(job, job->streams[2]);
    need(cudaStreamSynchronize(job->streams[0]), "no copy");
    need(cudaStreamSynchronize(job->streams[2]), "no copy");
}

void run_kernel_only(struct job *job)
{
    for (size_t p = 0; p < job->num_pieces; p++) {
        const struct linrec_args args = args_on(job, &job->slots[p % 2], job_piece(job, p));
        compute(job, &args, job->streams[1]);
    }
    need(cudaStreamSynchronize(job->streams[1]), "a kernel failed");
}
