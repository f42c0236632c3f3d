/* SPDX-License-Identifier: MIT */
/* recomputed.cu - the gradients without the outputs: of a forward pass only the states at the pieces' starts are kept,
   on the device. Then the pieces come in the other order, and each computes its outputs once more.

       1. forward    | piece 0 |--state 1-->| piece 1 |--state 2-->        x and c come in, nothing goes out
       2. backward   | piece 0 |<-----------| piece 1 |<-----------| piece 2 |
                          ^ no state             ^ state 1               ^ state 2      dL/dy, c and x come in  */
#include "streams.h"

/* The gradient that comes into piece `p`; only two are there at a time. */
static float *gradient_of(const struct job *job, size_t p)
{
    return state_of(job, job->num_pieces + p % 2);
}

/* The states: number k is what comes into stretch k of the forward pass. The last stretch's end nobody needs. */
static void keep_states(struct job *job)
{
    const cudaStream_t in = job->streams[0], kernel = job->streams[1];
    const size_t last = job->num_pieces - 1;

    for (size_t k = 0; k < last; k++) {
        const struct piece piece = job_piece(job, last - k); /* the backward pass goes the other way */
        struct slot *const slot = &job->slots[k % 2];
        struct linrec_args args = args_on(job, slot, piece);

        need(cudaStreamWaitEvent(in, slot->computed, 0), "no event");
        copy_rows(job, slot->in[1], job->in[1], piece, in); /* c */
        copy_rows(job, slot->in[2], job->in[2], piece, in); /* x */
        need(cudaEventRecord(slot->filled, in), "no event");

        args.initial_state = k == 0 ? NULL : state_of(job, k);
        args.final_state = state_of(job, k + 1);
        need(cudaStreamWaitEvent(kernel, slot->filled, 0), "no event");
        compute_forward(job, &args, kernel);
        need(cudaEventRecord(slot->computed, kernel), "no event");
    }
}

void run_recomputed(struct job *job)
{
    const cudaStream_t in = job->streams[0], kernel = job->streams[1], out = job->streams[2];

    if (job->num_pieces > 0)
        keep_states(job);
    for (size_t p = 0; p < job->num_pieces; p++) {
        const struct piece piece = job_piece(job, p);
        const size_t k = job->num_pieces - 1 - p; /* its number in the forward pass */
        struct slot *const slot = &job->slots[p % 2];
        struct linrec_args args = args_on(job, slot, piece);

        need(cudaStreamWaitEvent(in, slot->computed, 0), "no event");
        copy_in(job, slot, piece, in);
        need(cudaEventRecord(slot->filled, in), "no event");

        args.initial_state = k == 0 ? NULL : state_of(job, k);
        need(cudaStreamWaitEvent(kernel, slot->filled, 0), "no event");
        compute_forward(job, &args, kernel);

        args.d_final_state = p == 0 ? NULL : gradient_of(job, p);
        args.d_initial_state = k == 0 ? NULL : gradient_of(job, p + 1);
        need(cudaStreamWaitEvent(kernel, slot->emptied, 0), "no event");
        compute(job, &args, kernel);
        need(cudaEventRecord(slot->computed, kernel), "no event");

        need(cudaStreamWaitEvent(out, slot->computed, 0), "no event");
        copy_out(job, slot, piece, out);
        need(cudaEventRecord(slot->emptied, out), "no event");
    }
    need(cudaStreamSynchronize(out), "a kernel failed");
}
