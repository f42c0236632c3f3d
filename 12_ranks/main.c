/* SPDX-License-Identifier: MIT */
/* main.c - chapter 12 as a program of one or more ranks. README.md is the text.

   All ranks do the same, and rank 0 speaks. What the harness of the other chapters does in one process is here a loop
   over directions, lengths and ways: check, count, time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/base/output.h"
#include "../common/harness/table.h"
#include "check.h"
#include "options.h"
#ifdef CUSIM
#include "../cusim/counts.h"
#endif

/* A row of the table. */
struct result {
    const struct way *way;
    enum direction direction;
    size_t num_seqs, seq_len;
    double max_error;     /* over the bound; NaN: not checked */
    double bytes[2];      /* an element, of the rank that moves most: with c = 0.99, with c = 1; NaN: not counted */
    double message_bytes; /* a sequence, of the rank that sends most; NaN: not counted */
    double ms, ms_p20, ms_p80; /* by the clock, c = 0.99, from all ranks' begin to the last one's end; NaN: not timed */
};

/* What is known to all ranks. */
static int world_rank, world_ranks;
static int num_checks, num_failed;

/* The largest of a number on all ranks. */
static double largest(double mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

static void run(const struct way *way, struct part *part)
{
    if (part->comm != MPI_COMM_NULL)
        way->run(part);
    ranks_need(cudaDeviceSynchronize(), "a kernel failed");
}

/* ---- checks ---- */

static void say_wrong(const struct part *part, const struct result *row, int kind, const struct finding *found)
{
    const size_t index = finding_index(found->first_bad);
    fprintf(stderr,
            "FAILED: %s %s, %zu x %zu on %d ranks, %s coefficients: rank %d, sequence %zu, position %zu: %g, and "
            "should be %g within %.2g (%llu wrong)\n",
            row->way->name, direction_name(row->direction), row->num_seqs, row->seq_len, world_ranks, kind_name(kind),
            world_rank, index / part->args.seq_len, part->begin + index % part->args.seq_len, found->got,
            found->expected, found->bound, found->num_bad);
}

static void check(struct part *part, struct whole whole, struct result *row)
{
    row->max_error = row->way->is_partial ? NAN : 0.0;
    for (whole.kind = 0; whole.kind <= KIND_FADING && !row->way->is_partial; whole.kind++) {
        struct finding found = FINDING_NOTHING;
        if (!kind_fits(&whole, row->num_seqs, whole.kind))
            continue;
        if (part->comm != MPI_COMM_NULL)
            part_fill(part, &whole);
        run(row->way, part);
        if (part->comm != MPI_COMM_NULL)
            found = part_check(part, &whole);
        if (found.num_bad != 0)
            say_wrong(part, row, whole.kind, &found);
        const double error = largest(found.max_error);
        row->max_error = fmax(row->max_error, error);
        num_checks++;
        num_failed += error > 1.0;
    }
}

/* ---- counts and times ---- */

/* The bytes that the device moves for an element, NaN where nothing counts. */
static double count_bytes(struct part *part, const struct result *row, bool is_traced)
{
    double bytes = NAN;
#ifdef CUSIM
    sim_reset_counts();
    run(row->way, part);
    const struct sim_counts counts = sim_get_counts();
    const double count = (double)part->args.num_seqs * (double)part->args.seq_len;
    char label[128];
    snprintf(label, sizeof label, "12_ranks,%s,%s,%zu,%zu", row->way->name, direction_name(row->direction),
             row->num_seqs, row->seq_len);
    if (is_traced)
        sim_trace("chapter,variant,direction,num_seqs,seq_len", label);
    bytes = largest(count > 0 ? (double)(counts.loads.bytes + counts.stores.bytes) / count : 0.0);
#else
    (void)part, (void)row, (void)is_traced;
#endif
    return bytes;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_way(struct part *part, struct whole whole, int repeats, struct result *row)
{
    static const int kinds[] = {KIND_ONE, KIND_099}; /* the last one stays there, and is timed */
    double *const ms = malloc((size_t)repeats * sizeof *ms);
    ranks_need(ms == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no memory for times");
    for (int k = 0; k < 2; k++) {
        whole.kind = kinds[k];
        if (part->comm != MPI_COMM_NULL)
            part_fill(part, &whole);
        row->bytes[1 - k] = count_bytes(part, row, kinds[k] == KIND_099);
    }
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        messages = (struct messages){0, 0};
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        run(row->way, part);
        const double end = MPI_Wtime(), sent = row->num_seqs > 0 ? (double)messages.bytes / (double)row->num_seqs : 0.0;
        const double took = largest((end - begin) * 1e3);
        if (i >= 0)
            ms[i] = took;
        row->message_bytes = largest(sent);
    }
    qsort(ms, (size_t)repeats, sizeof *ms, compare);
    row->ms = ms[repeats / 2], row->ms_p20 = ms[repeats / 5], row->ms_p80 = ms[repeats - 1 - repeats / 5];
    free(ms);
}

/* ---- the table ---- */

/* A number in so many columns, or blanks for NaN; in a CSV nothing. */
static void print_number(FILE *file, const char *before, int width, int decimals, double number)
{
    if (isnan(number))
        fprintf(file, "%s%*s", before, width, width > 0 ? "-" : "");
    else
        fprintf(file, "%s%*.*f", before, width, decimals, number);
}

static void print_row(const struct result *row)
{
    printf("%-10s %-17s %5d %8zu %9zu", row->way->name, direction_name(row->direction), world_ranks, row->num_seqs,
           row->seq_len);
    print_number(stdout, " ", 10, 3, row->ms);
    print_number(stdout, " ", 10, 3, row->bytes[0]);
    print_number(stdout, " ", 8, 3, row->bytes[1]);
    print_number(stdout, " ", 9, 1, row->message_bytes);
    print_number(stdout, " ", 7, 3, row->max_error);
    printf("\n");
    fflush(stdout);
}

static int write_csv(const struct ranks_options *options, const struct machine *machine, const struct result *rows,
                     int count)
{
    struct output output;
    int status = output_open(&output, options->csv);
    if (status != 0)
        return status;
    csv_write_head(output.file, machine, options->command,
                   "chapter,variant,direction,ranks,num_seqs,seq_len,backend,device,wall_ms,wall_p20_ms,wall_p80_ms,"
                   "bytes_per_element,bytes_per_element_c1,message_bytes,max_error");
    for (const struct result *row = rows; row < rows + count; row++) {
        fprintf(output.file, "12_ranks,%s,%s,%d,%zu,%zu,%s,%s", row->way->name, direction_name(row->direction),
                world_ranks, row->num_seqs, row->seq_len, backend_name(machine->backend), machine->device.name);
        const double numbers[] = {row->ms,       row->ms_p20,        row->ms_p80,   row->bytes[0],
                                  row->bytes[1], row->message_bytes, row->max_error};
        for (int i = 0; i < 7; i++)
            print_number(output.file, ",", 0, 4, numbers[i]);
        fprintf(output.file, "\n");
    }
    status = output_commit(&output);
    output_discard(&output);
    return status;
}

/* One direction and length: a row for each way. */
static int run_shape(const struct ranks_options *options, enum direction direction, size_t seq_len, struct result *rows)
{
    const struct whole whole = {options->seed, 0, seq_len, is_reversed(direction), is_backward(direction)};
    struct part part = part_create(options->num_seqs, seq_len, whole.backward, whole.reverse);
    int count = 0;
    for (const struct way *way = chapter12_ways; way->name != NULL; way++) {
        if (options->way >= 0 && way != &chapter12_ways[options->way])
            continue;
        struct result row = {way, direction, options->num_seqs, seq_len, NAN, {NAN, NAN}, NAN, NAN, NAN, NAN};
        check(&part, whole, &row);
        if (!options->check_only && !(row.max_error > 1.0)) /* a wrong result has no speed */
            measure_way(&part, whole, options->repeats, &row);
        if (world_rank == 0)
            print_row(&row);
        rows[count++] = row;
    }
    part_free(&part);
    return count;
}

static int run_all(const struct ranks_options *options)
{
    enum { MAX_ROWS = 4 * MAX_LENGTHS * 8 };
    static struct result rows[MAX_ROWS];
    struct machine machine;
    int count = 0, status = machine_find(false, &machine);
    if (status != 0)
        MPI_Abort(MPI_COMM_WORLD, status);
    if (world_rank == 0) {
        printf("12_ranks on %d x %s (%s)%s\n", world_ranks, machine.device.name, machine.toolkit,
               machine.backend == ON_SIM ? "; ms: of the simulator, by the clock, and of no GPU" : "");
        printf("%-10s %-17s %5s %8s %9s %10s %10s %8s %9s %7s\n", "variant", "direction", "ranks", "num_seqs",
               "seq_len", "ms", "B/el.(.99)", "B/el.(1)", "B/message", "error");
    }
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < options->num_lengths && options->directions[d]; i++)
            count += run_shape(options, d, options->seq_len[i], rows + count);
    if (world_rank != 0)
        return num_failed > 0;
    if (num_failed == 0)
        printf("all %d checks passed\n", num_checks);
    else
        printf("%d FAILED\n", num_failed);
    if (options->csv[0] != '\0')
        status = write_csv(options, &machine, rows, count);
    return num_failed > 0 ? 1 : status;
}

int main(int argc, char **argv)
{
    struct ranks_options options;
    int status = -1;

    /* OpenMPI's exclusive scan goes from rank to rank, unless it is told otherwise (README.md, "Measure"). What is set
       already stays; other MPIs do not look at it. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    setenv("OMPI_MCA_coll_tuned_exscan_algorithm", "2", 0);
    setenv("OMPI_MCA_coll_libnbc_iexscan_algorithm", "2", 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);

    if (world_rank == 0)
        status = ranks_options_read(argc, argv, &options);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&options, sizeof options, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (status < 0) {
        ranks_begin();
        status = run_all(&options);
        ranks_end();
    }
    MPI_Finalize();
    return status;
}
