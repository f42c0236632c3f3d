/* SPDX-License-Identifier: MIT */
/* three_streams.cu - as two_streams.cu, but a stream for each kind of work: copies in, kernels, copies out. So no copy
   in stands behind a copy out. What has to come after what is no longer said by the stream, but by events.

       in       | in 0 | in 1 | in 2 | in 3 |              in 2 waits for k 0, whose slot it fills
       kernel          | k 0 |  k 1  | k 2  | k 3 |        k 2 waits for in 2, and for out 0: it writes to the same slot
       out                    | out 0 | out 1 | out 2 ...  out 2 waits for k 2 */
#include "streams.h"

void run_three_streams(struct job *job)
{
    const cudaStream_t in = job->streams[0], kernel = job->streams[1], out = job->streams[2];

    for (size_t p = 0; p < job->num_pieces; p++) {
        const struct piece piece = job_piece(job, p);
        struct slot *const slot = &job->slots[p % 2];
        const struct linrec_args args = args_on(job, slot, piece);

        need(cudaStreamWaitEvent(in, slot->computed, 0), "no event"); /* of the piece before in this slot */
        copy_in(job, slot, piece, in);
        need(cudaEventRecord(slot->filled, in), "no event");

        need(cudaStreamWaitEvent(kernel, slot->filled, 0), "no event");
        need(cudaStreamWaitEvent(kernel, slot->emptied, 0), "no event"); /* of the piece before */
        compute(job, &args, kernel);
        need(cudaEventRecord(slot->computed, kernel), "no event");

        need(cudaStreamWaitEvent(out, slot->computed, 0), "no event");
        copy_out(job, slot, piece, out);
        need(cudaEventRecord(slot->emptied, out), "no event");
    }
    need(cudaStreamSynchronize(out), "a kernel failed");
}
