/* SPDX-License-Identifier: MIT */
/* part.c - the common part of all variants: a rank's device, its stretch of the sequences, and the operator. See
   ranks.h. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "../08_lookback/lookback.h"

MPI_Datatype ranks_aggregate;
MPI_Op ranks_join;
bool ranks_share_gpu;

void ranks_need(cudaError_t error, const char *what)
{
    int rank;
    if (error == cudaSuccess)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "12_ranks: rank %d: %s: %s\n", rank, what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- the operator ---- */

void join_aggregates(const struct aggregate *earlier, struct aggregate *later, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        later[s].sum = earlier[s].sum * later[s].product + later[s].sum;
        later[s].product = earlier[s].product * later[s].product;
    }
}

/* As MPI calls it (MPI 3.1, 5.9.5): `first` comes from lower ranks than `second`, which takes the result. */
static void join(void *first, void *second, int *count, MPI_Datatype *type)
{
    (void)type;
    join_aggregates(first, second, (size_t)*count);
}

/* ---- the device ---- */

/* Whether any rank shares its device. On the simulator each process has devices of its own, and shares none. */
static bool any_shares(bool shares)
{
#ifdef CUSIM
    shares = false;
#endif
    MPI_Allreduce(MPI_IN_PLACE, &shares, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    return shares;
}

void ranks_begin(void)
{
    MPI_Comm machine;
    int rank, count = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank); /* among those of the same machine */
    MPI_Comm_free(&machine);
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0)
        error = cudaErrorNoDevice;
    ranks_need(error, "no GPU answers; build with BACKEND=sim to run without one");
    ranks_need(cudaSetDevice(rank % count), "its device cannot be used");
    ranks_share_gpu = any_shares(rank >= count);

    MPI_Type_contiguous(2, MPI_FLOAT, &ranks_aggregate);
    MPI_Type_commit(&ranks_aggregate);
    MPI_Op_create(join, /* commutative */ 0, &ranks_join);
}

void ranks_end(void)
{
    ranks_nccl_end();
    MPI_Op_free(&ranks_join);
    MPI_Type_free(&ranks_aggregate);
}

static void *on_device(size_t count, size_t size)
{
    void *pointer = NULL;
    if (count != 0)
        ranks_need(cudaMalloc(&pointer, count * size), "its device has no memory for this stretch; take more ranks");
    return pointer;
}

static void *on_host(size_t count, size_t size)
{
    void *pointer = NULL;
    ranks_need(cudaMallocHost(&pointer, count * size), "no host memory");
    return pointer;
}

/* ---- the stretch ---- */

/* The first `seq_len % ranks` ranks have one element more than the others. */
static size_t begin_of(size_t seq_len, int rank, int ranks)
{
    const size_t r = (size_t)rank, more = seq_len % (size_t)ranks;
    return seq_len / (size_t)ranks * r + (r < more ? r : more);
}

/* For all sequences at once, or for a group of them: fewer may want more. */
static size_t workspace_size(const struct linrec_args *args)
{
    struct linrec_args group = *args;
    group.num_seqs = ranks_group(args->num_seqs);
    const size_t for_all = linrec_workspace(args), for_group = linrec_workspace(&group);
    return for_all > for_group ? for_all : for_group;
}

struct part part_create(const struct problem *problem)
{
    const bool backward = is_backward(problem->direction), reverse = is_reversed(problem->direction);
    const size_t num_seqs = problem->sizes[NUM_SEQS], seq_len = problem->sizes[SEQ_LEN];
    struct part part = {.backward = backward, .problem = *problem};
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    part.begin = begin_of(seq_len, rank, ranks);
    const size_t length = begin_of(seq_len, rank + 1, ranks) - part.begin, count = num_seqs * length;

    /* [split] Who has no element stays out; the others are numbered in the order of the scan. */
    const bool down = reverse != backward;
    MPI_Comm_split(MPI_COMM_WORLD, count > 0 ? 0 : MPI_UNDEFINED, down ? ranks - rank : rank, &part.comm);
    if (part.comm == MPI_COMM_NULL)
        return part;
    MPI_Comm_rank(part.comm, &part.rank);
    MPI_Comm_size(part.comm, &part.ranks);

    part.problem.sizes[SEQ_LEN] = length;
    for (int a = 0; a < LINREC_INITIAL_STATE; a++) /* all but the states */
        if (array_role(&problem->operation->arrays[a], problem->direction) != UNTOUCHED)
            part.problem.arrays[a] = on_device(count, sizeof(float));
    part.args = linrec_args_of(&part.problem);
    part.args.workspace_size = workspace_size(&part.args);
    part.args.workspace = on_device(part.args.workspace_size, 1);
    ranks_need(lookback_workspace_init(part.args.workspace, part.args.workspace_size, NULL), "no workspace");

    part.device_tiles = on_device(num_seqs * aggregates_tiles(length), sizeof(struct aggregate));
    part.device_aggregates = on_device(num_seqs, sizeof(struct aggregate));
    part.device_all = on_device((size_t)part.ranks * num_seqs, sizeof(struct aggregate));
    part.carries = on_device(num_seqs, sizeof(float));
    part.edges = on_device(num_seqs, sizeof(float));
    part.ends = on_device(num_seqs, sizeof(float));
    part.aggregates = on_host(num_seqs, sizeof(struct aggregate));
    part.before = on_host(num_seqs, sizeof(struct aggregate));
    part.host = on_host(num_seqs, sizeof(float));
    return part;
}

void part_free(struct part *part)
{
    void *const device[] = {
        part->args.workspace, part->device_tiles, part->device_aggregates, part->device_all, part->carries,
        part->edges,          part->ends};
    if (part->comm == MPI_COMM_NULL)
        return;
    for (int a = 0; a < LINREC_INITIAL_STATE; a++)
        cudaFree(part->problem.arrays[a]);
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        cudaFree(device[i]);
    cudaFreeHost(part->aggregates);
    cudaFreeHost(part->before);
    cudaFreeHost(part->host);
    MPI_Comm_free(&part->comm);
}

struct part part_of_seqs(const struct part *part, size_t begin, size_t end)
{
    struct part rows = *part;
    const size_t at = begin * part->args.seq_len;
    const float **reads[] = {&rows.args.inputs, &rows.args.coeffs, &rows.args.d_outputs};
    float **writes[] = {&rows.args.outputs, &rows.args.d_inputs, &rows.args.d_coeffs};
    for (int i = 0; i < 3; i++) {
        *reads[i] += *reads[i] != NULL ? at : 0;
        *writes[i] += *writes[i] != NULL ? at : 0;
    }
    rows.args.num_seqs = end - begin;
    rows.device_tiles += begin * aggregates_tiles(part->args.seq_len);
    rows.device_aggregates += begin, rows.aggregates += begin, rows.before += begin;
    rows.carries += begin, rows.edges += begin, rows.ends += begin, rows.host += begin;
    return rows;
}

/* ---- what a variant consists of ---- */

void part_launch_aggregates(struct part *part, size_t first, size_t last)
{
    const struct piece piece = {first, last, part->args.reverse != part->backward,
                                /* starts: */ !part->backward && part->rank == 0 && first == 0};
    ranks_need(
        aggregates_launch(&part->args, part->backward, &piece, part->device_tiles, part->device_aggregates, NULL),
        "a launch failed");
}

void part_queue_aggregates(struct part *part, size_t first, size_t last)
{
    part_launch_aggregates(part, first, last);
    ranks_need(cudaMemcpyAsync(part->aggregates, part->device_aggregates,
                               part->args.num_seqs * sizeof *part->aggregates, cudaMemcpyDeviceToHost, NULL),
               "aggregates could not be copied");
}

void part_find_aggregates(struct part *part, size_t first, size_t last)
{
    part_queue_aggregates(part, first, last);
    ranks_need(cudaStreamSynchronize(NULL), "a kernel failed");
}

void part_queue_column(struct part *part, float *to, const float *array, size_t number)
{
    const size_t position = part->args.reverse != part->backward ? part->args.seq_len - 1 - number : number;
    ranks_need(cudaMemcpy2DAsync(to, sizeof(float), array + position, part->args.seq_len * sizeof(float), sizeof(float),
                                 part->args.num_seqs, cudaMemcpyDefault, NULL),
               "a column could not be copied");
}

const float *part_column(struct part *part, const float *array, size_t number)
{
    part_queue_column(part, part->host, array, number);
    ranks_need(cudaStreamSynchronize(NULL), "a kernel failed");
    return part->host;
}

const float *part_left(struct part *part)
{
    if (!part->backward)
        return part_column(part, part->args.outputs, part->args.seq_len - 1);
    ranks_need(cudaMemcpy(part->host, part->ends, part->args.num_seqs * sizeof(float), cudaMemcpyDeviceToHost),
               "what left could not be copied");
    return part->host;
}

/* Backward, the first coefficient of a stretch was multiplied by the last output of the stretch before it. In this
   pass's order, which is the other one, that is the stretch behind: rank + 1. */
static void fetch_edges(struct part *part)
{
    const int count = (int)part->args.num_seqs, last = part->ranks - 1;
    const int to = part->rank > 0 ? part->rank - 1 : MPI_PROC_NULL;
    const int from = part->rank < last ? part->rank + 1 : MPI_PROC_NULL;
    part_column(part, part->args.outputs, 0);
    MPI_Sendrecv_replace(part->host, count, MPI_FLOAT, to, 0, from, 0, part->comm, MPI_STATUS_IGNORE);
    if (part->rank < last)
        ranks_need(cudaMemcpy(part->edges, part->host, (size_t)count * sizeof(float), cudaMemcpyHostToDevice),
                   "edges could not be copied");
}

void part_queue_scan(struct part *part)
{
    struct linrec_args args = part->args;
    const float *const came_in = part->rank > 0 ? part->carries : NULL;
    if (!part->backward) {
        args.initial_state = came_in;
        ranks_need(linrec_forward(&args, NULL), "a launch failed");
    } else {
        const bool is_last = part->rank == part->ranks - 1;
        args.d_final_state = came_in;
        args.initial_state = is_last ? NULL : part->edges;
        args.d_initial_state = is_last ? NULL : part->ends;
        ranks_need(linrec_backward(&args, NULL), "a launch failed");
    }
}

void part_scan(struct part *part)
{
    if (part->backward)
        fetch_edges(part);
    if (part->rank > 0)
        ranks_need(cudaMemcpy2DAsync(part->carries, sizeof(float), &part->before->sum, sizeof(struct aggregate),
                                     sizeof(float), part->args.num_seqs, cudaMemcpyHostToDevice, NULL),
                   "what comes in could not be copied");
    part_queue_scan(part);
}
