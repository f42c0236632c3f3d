/* SPDX-License-Identifier: MIT */
/* two_streams.cu - as pinned.cu, but in pieces of some sequences each, which take turns on two streams with a slot
   each. What is in one stream comes one after the other; what is in two may happen at the same time.

       stream 0   | in 0 | k 0 | out 0 |       | in 2 | k 2 | out 2 |
       stream 1          | in 1        | k 1 | out 1 |      | in 3 ...   */
#include "streams.h"

void run_two_streams(struct job *job)
{
    for (size_t p = 0; p < job->num_pieces; p++) {
        const struct piece piece = job_piece(job, p);
        struct slot *const slot = &job->slots[p % 2];
        const cudaStream_t stream = job->streams[p % 2];
        const struct linrec_args args = args_on(job, slot, piece);

        copy_in(job, slot, piece, stream);
        compute(job, &args, stream);
        copy_out(job, slot, piece, stream);
    }
    need(cudaStreamSynchronize(job->streams[0]), "a kernel failed");
    need(cudaStreamSynchronize(job->streams[1]), "a kernel failed");
}
