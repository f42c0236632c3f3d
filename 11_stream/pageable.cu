/* SPDX-License-Identifier: MIT */
/* pageable.cu - copy in, compute, copy out, with memory from malloc. cudaMemcpy returns when it is done.

       bus in   | x | c |
       kernel           | k |
       bus out              | y |  */
#include "streams.h"

void run_pageable(struct job *job)
{
    const size_t bytes = job->host.num_seqs * job->host.seq_len * sizeof(float);
    const struct linrec_args args = args_on(job, &job->slots[0], job_piece(job, 0));

    for (int a = 0; a < job->num_in; a++)
        need(cudaMemcpy(job->slots[0].in[a], job->in[a], bytes, cudaMemcpyHostToDevice), "no copy");
    compute(job, &args, NULL);
    for (int a = 0; a < job->num_out; a++)
        need(cudaMemcpy(job->out[a], job->slots[0].out[a], bytes, cudaMemcpyDeviceToHost), "no copy");
    job->bytes_in = bytes * (size_t)job->num_in;
    job->bytes_out = bytes * (size_t)job->num_out;
}
