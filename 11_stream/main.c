/* SPDX-License-Identifier: MIT */
/* main.c - chapter 11 as a program. README.md is the text.

   What the harness of the other chapters does with arrays on the device is here a loop over directions, lengths, pieces
   and ways, for arrays in the host's memory: check, count, time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../common/base/output.h"
#include "../common/harness/table.h"
#include "../common/linrec/linrec_operation.h"
#include "check.h"
#include "options.h"
#ifdef CUSIM
#include "../cusim/counts.h"
#endif

/* A row of the table. */
struct result {
    const struct way *way;
    enum direction direction;
    size_t num_seqs, seq_len, piece; /* piece: elements; those of all sequences where all is one */
    double ms, ms_p20, ms_p80;  /* by the clock, from before the first copy to after the last wait; NaN: not timed */
    double percent_of_roof;     /* both_ways' time over this one; NaN: not timed */
    double in, out;             /* bytes an element over the bus; NaN: not counted */
    double launches, device_mb; /* by the host; NaN: not counted */
    double max_error;           /* over the bound; NaN: not checked */
};

static struct host_arrays arrays;
static int num_checks, num_failed;

/* ---- checks ---- */

static void say_wrong(const struct result *row, const struct data_spec *spec, const struct finding *found)
{
    static const char *const names[] = {
        [LINREC_OUTPUTS] = "outputs", [LINREC_D_INPUTS] = "d_inputs", [LINREC_D_COEFFS] = "d_coeffs"};
    const size_t index = finding_index(found->first_bad);
    fprintf(stderr,
            "FAILED: %s %s, %zu x %zu in pieces of %zu, %s coefficients: %llu elements are wrong, the first is "
            "%s[%zu, %zu]: %g, and should be %g within %.2g\n",
            row->way->name, direction_name(row->direction), row->num_seqs, row->seq_len, row->piece,
            data_kind_name(spec->kind), found->num_bad, names[finding_array(found->first_bad)], index / row->seq_len,
            index % row->seq_len, found->got, found->expected, found->bound);
}

static void check(struct job *job, struct data_spec spec, struct result *row)
{
    row->max_error = 0.0;
    for (int kind = 0; kind < DATA_NUM_KINDS; kind++) {
        spec.kind = (enum data_kind)kind;
        if (!kind_fits(&spec, row->num_seqs))
            continue;
        fill(job, &spec);
        if (job->num_pieces > 0)
            job->way->run(job);
        const struct finding found = check_results(job);
        if (found.num_bad != 0) {
            say_wrong(row, &spec, &found);
            need(cudaDeviceSynchronize(),
                 "a kernel failed"); /* of what was too early, the rest: the simulator tells why */
        }
        row->max_error = fmax(row->max_error, found.max_error);
        num_checks++;
        num_failed += found.max_error > 1.0;
    }
}

/* ---- counts and times ---- */

static void count(struct job *job, struct result *row)
{
    const double elements = (double)row->num_seqs * (double)row->seq_len;
    job->bytes_in = job->bytes_out = job->launches = 0;
#ifdef CUSIM
    sim_reset_counts();
#endif
    job->way->run(job);
#ifdef CUSIM
    char label[128];
    snprintf(label, sizeof label, "11_stream,%s,%s,%zu,%zu", row->way->name, direction_name(row->direction),
             row->num_seqs, row->seq_len);
    if (job->launches > 0)
        sim_trace("chapter,variant,direction,num_seqs,seq_len", label);
#endif
    row->launches = (double)job->launches;
    if (job->way->memory == MANAGED) /* the system moves pages, and tells nobody */
        return;
    row->in = (double)job->bytes_in / elements;
    row->out = (double)job->bytes_out / elements;
    row->device_mb = (double)job->device_bytes * 1e-6;
}

#ifndef CUSIM
static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_time(struct job *job, int repeats, struct result *row)
{
    double *const ms = malloc((size_t)repeats * sizeof *ms);
    need(ms == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no memory for times");
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        const double begin = now_ms();
        job->way->run(job);
        if (i >= 0)
            ms[i] = now_ms() - begin;
    }
    qsort(ms, (size_t)repeats, sizeof *ms, compare);
    row->ms = ms[repeats / 2], row->ms_p20 = ms[repeats / 5], row->ms_p80 = ms[repeats - 1 - repeats / 5];
    free(ms);
}
#endif

/* ---- the table ---- */

/* A number in so many columns, or a dash for NaN; in a CSV nothing. */
static void print_number(FILE *file, const char *before, int width, int decimals, double number)
{
    if (isnan(number))
        fprintf(file, "%s%*s", before, width, width > 0 ? "-" : "");
    else
        fprintf(file, "%s%*.*f", before, width, decimals, number);
}

static void print_head(const struct machine *machine)
{
    printf("11_stream on %s (%s)%s\n", machine->device.name, machine->toolkit,
           machine->backend == ON_SIM ? "; nothing is timed there" : "");
    printf("%-14s %-16s %8s %9s %9s %9s %7s %7s %7s %8s %9s %7s\n", "variant", "direction", "num_seqs", "seq_len",
           "piece", "ms", "% roof", "in_B/e", "out_B/e", "launches", "device_MB", "error");
}

static void print_row(const struct result *row)
{
    printf("%-14s %-16s %8zu %9zu %9zu", row->way->name, direction_name(row->direction), row->num_seqs, row->seq_len,
           row->piece);
    print_number(stdout, " ", 9, 3, row->ms);
    print_number(stdout, " ", 7, 1, row->percent_of_roof);
    print_number(stdout, " ", 7, 3, row->in);
    print_number(stdout, " ", 7, 3, row->out);
    print_number(stdout, " ", 8, 0, row->launches);
    print_number(stdout, " ", 9, 3, row->device_mb);
    print_number(stdout, " ", 7, 3, row->max_error);
    printf("\n");
    fflush(stdout);
}

static int write_csv(const struct stream_options *options, const struct machine *machine, const struct result *rows,
                     int num_rows)
{
    struct output output;
    int status = output_open(&output, options->csv);
    if (status != 0)
        return status;
    csv_write_head(output.file, machine, options->command,
                   "chapter,variant,direction,num_seqs,seq_len,piece,backend,device,wall_ms,wall_p20_ms,wall_p80_ms,"
                   "percent_of_roof,in_bytes_per_element,out_bytes_per_element,launches,device_mb,max_error");
    for (const struct result *row = rows; row < rows + num_rows; row++) {
        fprintf(output.file, "11_stream,%s,%s,%zu,%zu,%zu,%s,%s", row->way->name, direction_name(row->direction),
                row->num_seqs, row->seq_len, row->piece, backend_name(machine->backend), machine->device.name);
        const double numbers[] = {row->ms,  row->ms_p20,   row->ms_p80,    row->percent_of_roof, row->in,
                                  row->out, row->launches, row->device_mb, row->max_error};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            print_number(output.file, ",", 0, 4, numbers[i]);
        fprintf(output.file, "\n");
    }
    status = output_commit(&output);
    output_discard(&output);
    return status;
}

/* ---- the loop ---- */

/* One way on one shape: its row, or false and a sentence about why there is none. */
static bool run_way_on(const struct stream_options *options, const struct data_spec *spec, size_t most_bytes,
                       struct result *row)
{
    const struct way *const way = row->way;
    const size_t elements = row->num_seqs * row->seq_len;
    struct linrec_args host = {.num_seqs = row->num_seqs, .seq_len = row->seq_len, .reverse = spec->reverse};
    struct job job;

    host_arrays_make(&arrays, way->memory, elements);
    host.inputs = arrays.inputs, host.coeffs = arrays.coeffs, host.outputs = arrays.outputs;
    host.d_outputs = arrays.d_outputs, host.d_inputs = arrays.d_inputs, host.d_coeffs = arrays.d_coeffs;
    if (!job_create(&job, way, &host, spec->backward, row->piece, most_bytes)) {
        printf("left out: %s %s, %zu x %zu: it takes %.3f MB on the device, where %.3f MB are free; take a way in "
               "pieces\n",
               way->name, direction_name(row->direction), row->num_seqs, row->seq_len, (double)job.device_bytes * 1e-6,
               (double)most_bytes * 1e-6);
        return false;
    }
    if (way->cut == IN_ONE || way->cut == AS_IT_LIES)
        row->piece = job.seqs_in_piece * job.length_of_piece;
    if (!way->is_partial)
        check(&job, *spec, row);
    if (!options->check_only && elements > 0 && !(row->max_error > 1.0)) { /* a wrong result has no speed */
        if (way->is_partial)
            fill(&job, spec);
        count(&job, row);
#ifndef CUSIM
        take_time(&job, options->repeats, row);
#endif
    }
    job_free(&job);
    return true;
}

/* Whether a way has anything to do in this direction and shape, and has not done it with the piece before. */
static bool is_wanted(const struct stream_options *options, const struct way *way, enum direction direction,
                      size_t seq_len, int piece)
{
    if (!options->variants[way - chapter11_ways] || (way->recomputes && !is_backward(direction)) ||
        (way->only_forward && is_backward(direction)) || (way->is_partial && options->check_only))
        return false;
    if (way->in_steps && options->num_seqs * ((seq_len + STEP - 1) / STEP) > MOST_STEPS)
        return false;
    return piece == 0 || way->cut == BY_SEQS || way->cut == BY_TIME;
}

/* One direction and length: rows for each way, one for each size of a piece where there are pieces. */
static int run_shape(const struct stream_options *options, enum direction direction, size_t seq_len, size_t most_bytes,
                     struct result *rows)
{
    const struct data_spec spec = {options->seed,         DATA_NEAR_ONE, seq_len, is_reversed(direction), 0,
                                   is_backward(direction)};
    double roof = NAN;
    int num_rows = 0;
    for (const struct way *way = chapter11_ways; way->name != NULL; way++)
        for (int p = 0; p < options->piece.count; p++) {
            struct result *const row = &rows[num_rows];
            if (!is_wanted(options, way, direction, seq_len, p))
                continue;
            *row = (struct result){
                way, direction, options->num_seqs, seq_len, options->piece.value[p], NAN, NAN, NAN, NAN, NAN, NAN, NAN,
                NAN, NAN};
            if (!run_way_on(options, &spec, most_bytes, row))
                continue;
            if (way->run == run_both_ways)
                roof = row->ms;
            row->percent_of_roof = 100.0 * roof / row->ms;
            print_row(row);
            num_rows++;
        }
    return num_rows;
}

static int run_all(const struct stream_options *options)
{
    enum { MOST_ROWS = 4 * MAX_NUMBERS * 16 * MAX_NUMBERS };
    struct result *const rows = calloc(MOST_ROWS, sizeof *rows);
    struct machine machine;
    size_t available, total;
    int num_rows = 0, status = machine_find(false, &machine);
    if (status != 0)
        return status;
    need(rows == NULL ? cudaErrorMemoryAllocation : cudaMemGetInfo(&available, &total), "no memory");
    print_head(&machine);
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < options->seq_len.count && options->directions[d]; i++)
            num_rows += run_shape(options, d, options->seq_len.value[i],
                                  options->memory > 0 ? options->memory : available, rows + num_rows);
    host_arrays_free(&arrays);
    if (num_failed > 0)
        printf("%d FAILED\n", num_failed);
    else if (num_checks > 0)
        printf("all %d checks passed\n", num_checks);
    else
        printf("nothing was checked\n");
    if (options->csv != NULL)
        status = write_csv(options, &machine, rows, num_rows);
    free(rows);
    return num_failed > 0 ? 1 : status;
}

int main(int argc, char **argv)
{
    struct stream_options options;
    output_watch_stdout();
    const int status = stream_options_read(argc, argv, &options);
    return status >= 0 ? status : run_all(&options);
}
