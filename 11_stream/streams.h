/* SPDX-License-Identifier: MIT */
/* streams.h - chapter 11: sequences that live in the host's memory. The device has room for a few pieces of them, in
   slots, and copies go to and fro over the bus:

       host    | piece 0 | piece 1 | piece 2 | piece 3 | ...          each array (num_seqs, seq_len)
                    |         |
       device  | slot 0  | slot 1  |  piece 2 comes into slot 0, when piece 0 needs it no longer */
#ifndef STREAMS_H
#define STREAMS_H

#include "../common/harness/harness.h"
#include "../common/harness/placement.h"
#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the host. */
enum memory { PAGEABLE, PINNED, MANAGED };

/* What a piece is: everything, some whole sequences, a stretch of time of all sequences, or so many elements as they
   lie in memory, which nothing is computed of. */
enum cut { IN_ONE, BY_SEQS, BY_TIME, AS_IT_LIES };

enum { MAX_IN = 3, MAX_OUT = 2, MAX_SLOTS = 2, MAX_STREAMS = 3 };

/* Sequences [first_seq, first_seq + num_seqs), and of each the elements [begin, begin + length). */
struct piece {
    size_t first_seq, num_seqs, begin, length;
};

/* A piece's place on the device. */
struct slot {
    float *in[MAX_IN], *out[MAX_OUT];
    float *outputs; /* backward: y, whether it came in or was computed again */
    float *before;  /* (num_seqs): y of the element before the piece, as the pass goes forward */
    void *workspace;
    size_t workspace_size;
    cudaEvent_t filled, computed, emptied;
};

/* One pass over the sequences, in one of the variants. */
struct job {
    const struct variant *variant;
    bool backward, down;     /* down: from the last element to the first */
    struct linrec_args host; /* sizes, direction, and the arrays in the host's memory */

    /* The same arrays as what is copied in and what is copied out: forward x, c and y; backward dL/dy, c, y (or x, of
       which y is computed again), and dL/dx, dL/dc. */
    const float *in[MAX_IN];
    float *out[MAX_OUT];
    int num_in, num_out;

    size_t seqs_in_piece, length_of_piece, num_pieces;
    size_t pitch; /* elements from row to row in a slot; 0: rows are as long as the piece */
    struct slot slots[MAX_SLOTS];
    cudaStream_t streams[MAX_STREAMS];
    float *states;         /* device: what goes from piece to piece, see state_of */
    cudaGraphExec_t graph; /* NULL: not captured yet */

    size_t device_bytes;                  /* allocated */
    size_t bytes_in, bytes_out, launches; /* of a run: copied, launched */
};

/* ---- job.c ---- */

/* With memory of the device, streams and events. `piece`: elements of an array, at the most. False: the device memory
   would be more than `most_bytes`; then *device_bytes says how much, and nothing is allocated. */
bool job_create(struct job *job, const struct variant *variant, const struct linrec_args *host, bool backward,
                size_t piece, size_t most_bytes);
void job_free(struct job *job);

/* Piece number `p` in the order of the pass. */
struct piece job_piece(const struct job *job, size_t p);

/* Queues the copies of a piece's arrays into a slot, and back. */
void copy_in(struct job *job, struct slot *slot, struct piece piece, cudaStream_t stream);
void copy_out(struct job *job, struct slot *slot, struct piece piece, cudaStream_t stream);

/* Queues the copy of one array's rows into a slot. */
void copy_rows(struct job *job, float *to, const float *from, struct piece piece, cudaStream_t stream);

/* The arguments of a launch on a slot: sizes and device arrays; no states. */
struct linrec_args args_on(const struct job *job, struct slot *slot, struct piece piece);

/* Queues the pass over what lies in a slot. */
void compute(struct job *job, const struct linrec_args *args, cudaStream_t stream);
void compute_forward(struct job *job, const struct linrec_args *args, cudaStream_t stream);

/* The device's memory for states, (num_seqs): number `which`, from 0 to num_pieces + 1. */
float *state_of(const struct job *job, size_t which);

/* Ends the program with one sentence if there was an error. */
void need(cudaError_t error, const char *what);

/* ---- the variants, a file each, and their table ---- */

/* Runs the pass, if there is any piece. When it returns, the results are in the host's memory. */
typedef void run_variant(struct job *job);
run_variant run_pageable, run_pinned, run_two_streams, run_three_streams, run_handed_on, run_recomputed, run_managed;
run_variant run_launches, run_graph;
run_variant run_in_only, run_out_only, run_kernel_only, run_both_ways; /* parts.cu */

/* launches.cu: queues a launch for each STEP elements of each sequence, which lie in slot 0. Forward alone. */
void queue_steps(struct job *job, cudaStream_t stream);

enum { STEP = 16, MOST_STEPS = 16384 }; /* elements of a launch of `launches` and `graph`; launches, at the most */

struct variant {
    struct kernel_info info; /* partial: a measure, and no result */
    run_variant *run;
    enum memory memory;
    enum cut cut;
    int num_slots;
    bool recomputes; /* backward alone: reads x in place of y */
    bool only_forward;
    bool in_steps; /* a launch for each STEP elements of each sequence */
};
extern const struct variant chapter11_variants[]; /* it ends with a row whose name is NULL */

/* ---- host.c: where the arrays live ---- */

extern const struct placement stream_placement;

#ifdef __cplusplus
}
#endif
#endif
