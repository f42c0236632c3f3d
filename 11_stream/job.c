/* SPDX-License-Identifier: MIT */
/* job.c - the common part of all variants: pieces, slots, copies and launches. See streams.h. */
#include <stdio.h>
#include <stdlib.h>

#include "../08_lookback/lookback.h"
#include "streams.h"

void need(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "11_stream: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static size_t at_most(size_t number, size_t most)
{
    return number < most ? number : most;
}

static size_t divide_up(size_t number, size_t by)
{
    return by == 0 ? 0 : (number + by - 1) / by;
}

/* ---- pieces ---- */

enum { LARGE = 1 << 24 }; /* elements, of pieces that are copied only: the bus's best */

static void cut_into_pieces(struct job *job, size_t piece)
{
    const size_t num_seqs = job->host.num_seqs, seq_len = job->host.seq_len, count = num_seqs * seq_len;

    job->seqs_in_piece = num_seqs;
    job->length_of_piece = seq_len;
    job->num_pieces = count > 0;
    if (count == 0 || job->variant->cut == IN_ONE)
        return;
    if (job->variant->cut == BY_SEQS) {
        job->seqs_in_piece = at_most(piece < seq_len ? 1 : piece / seq_len, num_seqs);
        job->num_pieces = divide_up(num_seqs, job->seqs_in_piece);
    } else if (job->variant->cut == BY_TIME) {
        job->length_of_piece = at_most(piece < num_seqs ? 1 : piece / num_seqs, seq_len);
        job->num_pieces = divide_up(seq_len, job->length_of_piece);
    } else {
        job->seqs_in_piece = 1;
        job->length_of_piece = at_most(LARGE, count);
        job->num_pieces = divide_up(count, job->length_of_piece);
    }
}

struct piece job_piece(const struct job *job, size_t p)
{
    const size_t count = job->host.num_seqs * job->host.seq_len;
    struct piece piece = {0, job->seqs_in_piece, 0, job->length_of_piece};

    if (job->variant->cut == BY_SEQS) {
        piece.first_seq = p * job->seqs_in_piece;
        piece.num_seqs = at_most(job->seqs_in_piece, job->host.num_seqs - piece.first_seq);
    } else if (job->variant->cut == BY_TIME) {
        piece.begin = (job->down ? job->num_pieces - 1 - p : p) * job->length_of_piece;
        piece.length = at_most(job->length_of_piece, job->host.seq_len - piece.begin);
    } else if (job->variant->cut == AS_IT_LIES) {
        piece.begin = p * job->length_of_piece;
        piece.length = at_most(job->length_of_piece, count - piece.begin);
    }
    return piece;
}

/* ---- memory of the device ---- */

/* Counts, and unless it only counts, allocates. */
static void *on_device(struct job *job, size_t bytes, bool only_count)
{
    void *pointer = NULL;
    job->device_bytes += bytes;
    if (!only_count && bytes > 0)
        need(cudaMalloc(&pointer, bytes), "no memory on the device");
    return pointer;
}

/* Elements of a state, so that each begins at 16 bytes. */
static size_t state_pitch(const struct job *job)
{
    return divide_up(job->host.num_seqs, 4) * 4;
}

float *state_of(const struct job *job, size_t which)
{
    return job->states + which * state_pitch(job);
}

/* Of a whole piece, or of the last one, which is smaller and may want more. */
static size_t workspace_of(struct job *job)
{
    struct linrec_args first = {.num_seqs = job->seqs_in_piece, .seq_len = job->length_of_piece}, last = first;
    last.num_seqs = (job->host.num_seqs - 1) % job->seqs_in_piece + 1;
    last.seq_len = (job->host.seq_len - 1) % job->length_of_piece + 1;
    const size_t for_first = linrec_workspace(&first), for_last = linrec_workspace(&last);
    return for_first > for_last ? for_first : for_last;
}

static void allocate(struct job *job, bool only_count)
{
    const bool copies_alone = job->variant->cut == AS_IT_LIES;
    const size_t rows = job->pitch > 0 ? job->pitch : job->length_of_piece;
    const size_t bytes = job->variant->memory == MANAGED ? 0 : job->seqs_in_piece * rows * sizeof(float);
    const size_t workspace = copies_alone ? 0 : workspace_of(job);

    job->device_bytes = 0;
    for (struct slot *slot = job->slots; slot < job->slots + job->variant->num_slots; slot++) {
        for (int a = 0; a < job->num_in; a++)
            slot->in[a] = on_device(job, bytes, only_count);
        for (int a = 0; a < job->num_out; a++)
            slot->out[a] = on_device(job, bytes, only_count);
        slot->outputs = !job->backward ? slot->out[0] : slot->in[2];
        if (job->variant->recomputes)
            slot->outputs = on_device(job, bytes, only_count);
        if (job->variant->cut == BY_TIME && job->backward)
            slot->before = on_device(job, job->host.num_seqs * sizeof(float), only_count);
        slot->workspace_size = workspace;
        slot->workspace = on_device(job, workspace, only_count);
    }
    if (job->variant->cut == BY_TIME || job->variant->in_steps)
        job->states = on_device(job, (job->num_pieces + 2) * state_pitch(job) * sizeof(float), only_count);
}

/* What partial variants copy out and compute with. */
static void clear(struct job *job, struct slot *slot)
{
    const size_t bytes = job->seqs_in_piece * job->length_of_piece * sizeof(float);
    for (int a = 0; a < job->num_in; a++)
        need(cudaMemset(slot->in[a], 0, bytes), "no memory on the device");
    for (int a = 0; a < job->num_out; a++)
        need(cudaMemset(slot->out[a], 0, bytes), "no memory on the device");
}

bool job_create(struct job *job, const struct variant *variant, const struct linrec_args *host, bool backward,
                size_t piece, size_t most_bytes)
{
    *job = (struct job){.variant = variant, .backward = backward, .down = host->reverse != backward, .host = *host};
    job->in[0] = backward ? host->d_outputs : host->inputs;
    job->in[1] = host->coeffs;
    job->in[2] = variant->recomputes ? host->inputs : host->outputs;
    job->out[0] = backward ? host->d_inputs : host->outputs;
    job->out[1] = host->d_coeffs;
    job->num_in = backward ? 3 : 2;
    job->num_out = backward ? 2 : 1;
    job->pitch = variant->in_steps ? divide_up(host->seq_len, 4) * 4 : 0;
    cut_into_pieces(job, piece);
    if (job->num_pieces == 0)
        return true;

    allocate(job, true);
    if (job->device_bytes > most_bytes)
        return false;
    allocate(job, false);
    for (int s = 0; s < MAX_STREAMS; s++)
        need(cudaStreamCreateWithFlags(&job->streams[s], cudaStreamNonBlocking), "no stream");
    for (struct slot *slot = job->slots; slot < job->slots + variant->num_slots; slot++) {
        cudaEvent_t *const events[] = {&slot->filled, &slot->computed, &slot->emptied};
        for (int e = 0; e < 3; e++)
            need(cudaEventCreateWithFlags(events[e], cudaEventDisableTiming), "no event");
        if (slot->workspace_size > 0)
            need(lookback_workspace_init(slot->workspace, slot->workspace_size, NULL), "no workspace");
        if (variant->info.partial)
            clear(job, slot);
    }
    need(cudaDeviceSynchronize(), "no memory on the device");
    return true;
}

void job_free(struct job *job)
{
    for (struct slot *slot = job->slots; slot < job->slots + MAX_SLOTS; slot++) {
        for (int a = 0; a < MAX_IN; a++)
            cudaFree(slot->in[a]);
        for (int a = 0; a < MAX_OUT; a++)
            cudaFree(slot->out[a]);
        if (job->variant->recomputes)
            cudaFree(slot->outputs);
        cudaFree(slot->before);
        cudaFree(slot->workspace);
        const cudaEvent_t events[] = {slot->filled, slot->computed, slot->emptied};
        for (int e = 0; e < 3 && events[e] != NULL; e++)
            cudaEventDestroy(events[e]);
    }
    cudaFree(job->states);
    if (job->graph != NULL)
        cudaGraphExecDestroy(job->graph);
    for (int s = 0; s < MAX_STREAMS; s++)
        if (job->streams[s] != NULL)
            cudaStreamDestroy(job->streams[s]);
}

/* ---- copies ---- */

/* Rows that follow each other without a gap on both sides are one row. */
static void copy(void *to, size_t to_row, const void *from, size_t from_row, size_t width, size_t rows,
                 enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (width == to_row && width == from_row)
        need(cudaMemcpyAsync(to, from, width * rows, kind, stream), "no copy");
    else
        need(cudaMemcpy2DAsync(to, to_row, from, from_row, width, rows, kind, stream), "no copy");
}

/* From row to row: in the host's arrays, and in a slot. Copies alone take arrays as one row. */
static size_t host_row(const struct job *job, struct piece piece)
{
    return (job->variant->cut == AS_IT_LIES ? piece.length : job->host.seq_len) * sizeof(float);
}

static size_t slot_row(const struct job *job, struct piece piece)
{
    return (job->pitch > 0 ? job->pitch : piece.length) * sizeof(float);
}

void copy_rows(struct job *job, float *to, const float *from, struct piece piece, cudaStream_t stream)
{
    copy(to, slot_row(job, piece), from + piece.first_seq * job->host.seq_len + piece.begin, host_row(job, piece),
         piece.length * sizeof(float), piece.num_seqs, cudaMemcpyHostToDevice, stream);
    job->bytes_in += piece.num_seqs * piece.length * sizeof(float);
}

void copy_in(struct job *job, struct slot *slot, struct piece piece, cudaStream_t stream)
{
    for (int a = 0; a < job->num_in; a++)
        copy_rows(job, slot->in[a], job->in[a], piece, stream);
}

void copy_out(struct job *job, struct slot *slot, struct piece piece, cudaStream_t stream)
{
    for (int a = 0; a < job->num_out; a++) {
        copy(job->out[a] + piece.first_seq * job->host.seq_len + piece.begin, host_row(job, piece), slot->out[a],
             slot_row(job, piece), piece.length * sizeof(float), piece.num_seqs, cudaMemcpyDeviceToHost, stream);
        job->bytes_out += piece.num_seqs * piece.length * sizeof(float);
    }
}

/* ---- launches ---- */

struct linrec_args args_on(const struct job *job, struct slot *slot, struct piece piece)
{
    struct linrec_args args = {.num_seqs = piece.num_seqs, .seq_len = piece.length, .reverse = job->host.reverse};
    args.coeffs = slot->in[1];
    args.outputs = slot->outputs;
    if (job->backward) {
        args.inputs = job->variant->recomputes ? slot->in[2] : NULL;
        args.d_outputs = slot->in[0];
        args.d_inputs = slot->out[0];
        args.d_coeffs = slot->out[1];
    } else {
        args.inputs = slot->in[0];
    }
    args.workspace = slot->workspace;
    args.workspace_size = slot->workspace_size;
    return args;
}

void compute(struct job *job, const struct linrec_args *args, cudaStream_t stream)
{
    need((job->backward ? linrec_backward : linrec_forward)(args, stream), "a launch failed");
    job->launches++;
}

void compute_forward(struct job *job, const struct linrec_args *args, cudaStream_t stream)
{
    need(linrec_forward(args, stream), "a launch failed");
    job->launches++;
}
