/* SPDX-License-Identifier: MIT */
/* launches.cu - as if the elements came 16 at a time: all of them are on the device, and each 16 of a sequence have a
   launch of their own, which begins in the state that the launch before has left. What is measured is the launches.

       host     | launch 0 | launch 1 | launch 2 | ...
       device      | 16 |     | 16 |     | 16 |  ...  */
#include "../06_backward/scan.h"
#include "streams.h"

void queue_steps(struct job *job, cudaStream_t stream)
{
    const size_t length = job->host.seq_len, steps = (length + STEP - 1) / STEP;
    struct slot *const slot = &job->slots[0];

    for (size_t i = 0; i < job->host.num_seqs * steps; i++) {
        const size_t step = i % steps, from_start = job->down ? steps - 1 - step : step;
        const size_t begin = from_start * STEP, at = i / steps * job->pitch + begin;
        struct linrec_args args = {};
        args.num_seqs = 1;
        args.seq_len = length - begin < STEP ? length - begin : (size_t)STEP;
        args.reverse = job->host.reverse;
        args.inputs = slot->in[0] + at;
        args.coeffs = slot->in[1] + at;
        args.outputs = slot->out[0] + at;
        args.initial_state = step == 0 ? NULL : state_of(job, step % 2);
        args.final_state = state_of(job, (step + 1) % 2);
        need(scan_per_block(&args, stream), "a launch failed");
    }
}

void run_launches(struct job *job)
{
    const cudaStream_t stream = job->streams[0];
    const struct piece all = job_piece(job, 0);

    copy_in(job, &job->slots[0], all, stream);
    queue_steps(job, stream);
    copy_out(job, &job->slots[0], all, stream);
    need(cudaStreamSynchronize(stream), "a kernel failed");
    job->launches = job->host.num_seqs * ((job->host.seq_len + STEP - 1) / STEP);
}
