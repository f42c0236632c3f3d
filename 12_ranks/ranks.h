/* SPDX-License-Identifier: MIT */
/* ranks.h - chapter 12: sequences that are cut over the ranks of an MPI program. A rank has a GPU, and of every
   sequence a stretch, which never moves:

       position   0                 seq_len
                  | rank 0 | rank 1 | rank 2 |        each (num_seqs, its own length), on the rank's own device */
#ifndef RANKS_H
#define RANKS_H

#include <mpi.h>

#include "../common/harness/harness.h"
#include "../common/harness/placement.h"
#include "../common/linrec/linrec_operation.h"
#include "aggregates.h"

/* A rank's part in one pass over the sequences. */
struct part {
    MPI_Comm comm;   /* the ranks that have elements, in the order of the scan; MPI_COMM_NULL: this one has none */
    int rank, ranks; /* its place in that order, from 0, and their number */
    size_t begin;    /* the position of its first element */
    bool backward;
    struct problem problem;  /* of its stretch */
    struct linrec_args args; /* the same; the states, too, are on the device */

    struct aggregate *device_tiles, *device_aggregates; /* what aggregates_launch writes */
    struct aggregate *device_all;                       /* (ranks, num_seqs): all ranks', for nccl */
    float *carries, *edges, *ends; /* device, (num_seqs): what comes in; the neighbour's outputs; d_initial_state */
    struct aggregate *aggregates,
        *before; /* host, (num_seqs): what this stretch does, and all stretches before it together */
    float *host; /* host, (num_seqs): on its way to or from the device */
};

/* ---- part.c ---- */

/* Once, after MPI_Init: chooses the rank's device, and tells MPI what an aggregate is and how two are joined. */
void ranks_begin(void);
void ranks_end(void);
extern MPI_Datatype ranks_aggregate; /* a struct aggregate as MPI knows it */
extern MPI_Op ranks_join;            /* the operator: what two neighbouring stretches do together */
extern bool ranks_share_gpu;         /* whether any two of them have the same device */

/* Joins `count` aggregates, `later` becoming what both do: the operator itself. */
void join_aggregates(const struct aggregate *earlier, struct aggregate *later, size_t count);

/* The part of the calling rank, with memory for its arrays. Every rank of MPI_COMM_WORLD calls it. */
struct part part_create(const struct problem *problem);
void part_free(struct part *part);

/* The part's sequences [begin, end) as a part of their own, in the same memory. `begin` is a multiple of 4. */
struct part part_of_seqs(const struct part *part, size_t begin, size_t end);

/* Queues the search for what elements [first, last) of the scan do, which ends in part->device_aggregates; then in
   part->aggregates, too; and waits for it. */
void part_launch_aggregates(struct part *part, size_t first, size_t last);
void part_queue_aggregates(struct part *part, size_t first, size_t last);
void part_find_aggregates(struct part *part, size_t first, size_t last);

/* Scans the stretch, with part->before coming in, on the first rank nothing. It queues the work and returns. The second
   one is for whom part->carries holds what comes in, and backward part->edges what the neighbour has. */
void part_scan(struct part *part);
void part_queue_scan(struct part *part);

/* Queues a copy of what stands in element number `number` of the scan of each sequence; the second one waits for it, on
   the host: part->host. */
void part_queue_column(struct part *part, float *to, const float *array, size_t number);
const float *part_column(struct part *part, const float *array, size_t number);

/* What left each sequence, after a scan: the last output, or backward what the gradient hands on. Not on the last
   rank. Also in part->host. */
const float *part_left(struct part *part);

/* Ends all ranks with one sentence of this one, if there was an error. */
void ranks_need(cudaError_t error, const char *what);

/* ---- the variants, a file each, and their table ---- */

/* Computes the pass on all ranks of part->comm, each of which calls it. Does not wait for the last kernels. */
typedef void ranks_variant(struct part *part);
ranks_variant ranks_alone, ranks_chain, ranks_exscan, ranks_allgather, ranks_overlap, ranks_forget, ranks_nccl;
void ranks_nccl_end(void); /* gives back what ranks_nccl has made */

/* Sequences in each of the groups that overlap makes. */
static inline size_t ranks_group(size_t num_seqs)
{
    return ((num_seqs + 15) / 16) * 4;
}

struct variant {
    struct kernel_info info; /* partial: nothing is handed on, which is a measure, and no result */
    ranks_variant *run;      /* NULL: this was built without what it needs */
    bool wants_own_gpu;      /* no two ranks may have the same */
};
extern const struct variant chapter12_variants[]; /* it ends with a row whose name is NULL */

/* ---- stretch.c: where the arrays live ---- */

/* The kinds of data are those of all chapters, these two, which are counted and timed, and one more. */
enum { KIND_099 = DATA_NUM_KINDS, KIND_ONE, KIND_FADING, NUM_KINDS };
const char *ranks_kind_name(int kind);

extern const struct placement ranks_placement;

/* ---- messages.c ---- */

/* Bytes that this rank has handed to MPI or NCCL to be sent, and calls that did so, since the last reset. */
struct messages {
    size_t bytes, calls;
};
extern struct messages messages;
void messages_count(size_t bytes);

/* Between these two a rank waits for others. If that takes longer than the option --timeout says, the rank ends the job
   with one sentence that names `what`, a string that stays. MPI's functions do it by themselves. */
void ranks_watch_begin(void); /* once, after MPI_Init */
void ranks_watch(const char *what);
void ranks_unwatch(void);
int ranks_read_timeout(const char *text); /* the option */

#endif
