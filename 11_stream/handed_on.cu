/* SPDX-License-Identifier: MIT */
/* handed_on.cu - as three_streams.cu, but a piece is a stretch of all sequences, and the state in which it ends is the
   one in which the next begins. States never leave the device. So a sequence may be longer than its memory.

       forward    | piece 0 |--state 1-->| piece 1 |--state 2-->| piece 2 |       y of the last element
       backward   | piece 0 |<--state 2--| piece 1 |<--state 1--| piece 2 |       the gradient with respect to it

   Backward a piece also needs y of the element before it, which lies in the host's memory: one column is copied. */
#include "streams.h"

/* The column before the piece; nothing is there before the sequence's first element. */
static const float *copy_before(struct job *job, struct slot *slot, struct piece piece, cudaStream_t stream)
{
    const size_t row = job->host.seq_len * sizeof(float), end = piece.begin + piece.length;
    if (job->host.reverse ? end == job->host.seq_len : piece.begin == 0)
        return NULL;
    const float *const from = job->host.outputs + (job->host.reverse ? end : piece.begin - 1);
    need(cudaMemcpy2DAsync(slot->before, sizeof(float), from, row, sizeof(float), piece.num_seqs,
                           cudaMemcpyHostToDevice, stream),
         "no copy");
    job->bytes_in += piece.num_seqs * sizeof(float);
    return slot->before;
}

void run_handed_on(struct job *job)
{
    const cudaStream_t in = job->streams[0], kernel = job->streams[1], out = job->streams[2];

    for (size_t p = 0; p < job->num_pieces; p++) {
        const struct piece piece = job_piece(job, p);
        struct slot *const slot = &job->slots[p % 2];
        struct linrec_args args = args_on(job, slot, piece);

        need(cudaStreamWaitEvent(in, slot->computed, 0), "no event");
        copy_in(job, slot, piece, in);
        if (job->backward)
            args.initial_state = copy_before(job, slot, piece, in);
        need(cudaEventRecord(slot->filled, in), "no event");

        const float *const comes_in = p == 0 ? NULL : state_of(job, p);
        float *const goes_out = state_of(job, p + 1);
        if (job->backward) {
            args.d_final_state = comes_in;
            args.d_initial_state = args.initial_state != NULL ? goes_out : NULL;
        } else {
            args.initial_state = comes_in;
            args.final_state = goes_out;
        }
        need(cudaStreamWaitEvent(kernel, slot->filled, 0), "no event");
        need(cudaStreamWaitEvent(kernel, slot->emptied, 0), "no event");
        compute(job, &args, kernel);
        need(cudaEventRecord(slot->computed, kernel), "no event");

        need(cudaStreamWaitEvent(out, slot->computed, 0), "no event");
        copy_out(job, slot, piece, out);
        need(cudaEventRecord(slot->emptied, out), "no event");
    }
    need(cudaStreamSynchronize(out), "a kernel failed");
}
