/* SPDX-License-Identifier: MIT */
/* pinned.cu - as pageable.cu, but the host's memory is pinned, so that the bus takes it from where it is. Then copies
   can be queued, and the host waits once, at the end.

       bus in   | x | c |
       kernel           | k |
       bus out              | y |  */
#include "streams.h"

void run_pinned(struct job *job)
{
    const cudaStream_t stream = job->streams[0];
    const struct piece all = job_piece(job, 0);
    const struct linrec_args args = args_on(job, &job->slots[0], all);

    copy_in(job, &job->slots[0], all, stream);
    compute(job, &args, stream);
    copy_out(job, &job->slots[0], all, stream);
    need(cudaStreamSynchronize(stream), "a kernel failed");
}
