/* SPDX-License-Identifier: MIT */
/* placement.c - see placement.h */
#include "placement.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/output.h"
#include "arrays.h"
#include "check.h"
#include "console.h"
#include "selection.h"

int placement_hush(const struct placement *placement)
{
    if (placement == NULL || !placement->is_silent)
        return -1;
    const int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
    return kept;
}

void placement_speak(int hushed)
{
    if (hushed < 0)
        return;
    dup2(hushed, STDERR_FILENO);
    close(hushed);
}

static double largest(const struct placement *placement, double mine)
{
    return placement->largest != NULL ? placement->largest(mine) : mine;
}

/* ---- checks ---- */

static void say_wrong(const struct placed *placed, int kind, const struct finding *found)
{
    const struct problem *problem = &placed->problem;
    const struct operation *operation = problem->operation;
    const struct array *array = &operation->arrays[finding_array(found->first_bad)];
    size_t position[MAX_DIMS];
    char shape[SIZES_TEXT], at[24 * MAX_DIMS] = "";
    check_position(problem, found->first_bad, position);
    for (int d = 0, used = 0; d < array->num_dims; d++)
        used += sprintf(at + used, "%s%zu", d == 0 ? "" : ", ", position[d]);
    fprintf(stderr,
            "FAILED: %s %s, %s%s, %s %s: %llu elements are wrong, the first is %s[%s]: %g, and should be %g within "
            "%.2g\n",
            ((const struct kernel_info *)placed->kernel)->name, direction_name(problem->direction),
            sizes_text(operation, problem->sizes, shape), placed->where, operation->kind_name(kind), operation->filled,
            found->num_bad, array->name, at, found->got, found->expected, found->bound);
}

/* Checks all kinds of data that fit. Returns the largest error over its bound. */
static double check(struct console *console, const struct kernel *kernel, struct placed *placed, uint64_t seed)
{
    const struct operation *operation = placed->problem.operation;
    const struct placement *placement = operation->placement;
    double max_error = 0.0;
    for (int kind = 0; kind < operation->num_kinds; kind++) {
        const struct data data = {seed, kind};
        struct finding found = FINDING_NOTHING;
        if ((kernel->kinds_left_out >> kind & 1) != 0 || !operation->kind_fits(&placed->problem, kind) ||
            (placed->elements > (double)placement->large && (placement->kinds_if_large >> kind & 1) == 0))
            continue;
        console_progress(console, "checking %s %s%s, %s", kernel->name, direction_name(placed->problem.direction),
                         placed->where, operation->kind_name(kind));
        placement->fill(placed, &data);
        placement->run(placed);
        placement->check(placed, &data, &found);
        if (found.num_bad != 0) {
            say_wrong(placed, kind, &found);
            placement->need(cudaDeviceSynchronize(), "a kernel failed"); /* and of what the simulator tells why */
        }
        const double error = largest(placement, found.max_error);
        max_error = fmax(max_error, error);
        console->num_checks++;
        console->num_failed += error > 1.0;
    }
    return max_error;
}

/* ---- times ---- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* By the clock, from when all begin to when the last one is done. */
static void take_time(struct placed *placed, int repeats, double times[3])
{
    const struct placement *placement = placed->problem.operation->placement;
    float *const ms = malloc((size_t)repeats * sizeof *ms);
    placement->need(ms == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no memory for times");
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        largest(placement, 0.0);         /* all are here */
        const double begin = now_ms();
        placement->run(placed);
        const double took = largest(placement, now_ms() - begin);
        if (i >= 0)
            ms[i] = (float)took;
    }
    const struct timing timing = timing_of(ms, repeats);
    times[0] = timing.median_ms, times[1] = timing.p20_ms, times[2] = timing.p80_ms;
    free(ms);
}

/* ---- the loop ---- */

/* One kernel on one shape and size of a piece. */
static void run_one(struct console *console, const struct selection *selection, const struct kernel *kernel,
                    struct placed placed)
{
    const struct options *options = selection->options;
    const struct placement *placement = selection->operation->placement;
    struct row row = {.chapter = kernel->chapter,
                      .variant = kernel->info->name,
                      .direction = direction_name(placed.problem.direction)};
    double *const error = &row.values[placement->num_columns - 1];
    memcpy(row.sizes, placed.problem.sizes, sizeof row.sizes);
    for (int i = 0; i < placement->num_columns; i++)
        row.values[i] = NAN;
    placed.kernel = kernel->info;
    placed.values = row.values;
    if (!placement->place(&placed))
        return;
    if (!kernel->info->partial)
        *error = check(console, kernel, &placed, options->seed);
    if (!options->check_only && !(*error > 1.0)) { /* a wrong result has no speed */
        char names[KEY_TEXT], label[KEY_TEXT];
        console_progress(console, "measuring %s %s%s", kernel->name, row.direction, placed.where);
        placement->count(&placed, options->seed, csv_key_columns(&console->run, names),
                         csv_key(&console->run, &row, label));
        if (selection->machine->backend != ON_SIM || placement->timed_on_sim)
            take_time(&placed, options->repeats != 0 ? options->repeats : placement->repeats,
                      &row.values[placement->num_keys]);
        if (placement->conclude != NULL)
            placement->conclude(&placed);
    }
    placement->release(&placed);
    console_row(console, &row);
}

static void run_shape(struct console *console, const struct selection *selection, enum direction direction,
                      const size_t sizes[MAX_SIZES])
{
    const struct options *options = selection->options;
    const struct placement *placement = selection->operation->placement;
    const size_t *pieces = options->num_pieces != 0 ? options->pieces : placement->pieces;
    struct placed placed = {.problem = {.operation = selection->operation, .direction = direction}};
    memcpy(placed.problem.sizes, sizes, sizeof placed.problem.sizes);
    placed.elements = (double)array_count(&selection->operation->arrays[0], sizes);
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        placed.kernel = kernel->info;
        if (!selection_runs(selection, kernel, direction, sizes))
            continue;
        for (int p = 0; p == 0 || pieces[p] != 0; p++) {
            placed.piece = pieces[p];
            if (placement->is_idle == NULL || !placement->is_idle(&placed, p == 0))
                run_one(console, selection, kernel, placed);
        }
    }
}

/* What can be found before anything is computed. Returns 0, or 2 after one line. */
static int prepare(struct selection *selection)
{
    const struct options *options = selection->options;
    const struct shapes *shapes = &selection->shapes;
    char shape[SIZES_TEXT];
    int status = selection_check(selection, direction_of(options->backward, options->reverse));
    if (status == 0)
        status = selection_shapes(selection);
    for (int i = 0; i < shapes->count && status == 0; i++)
        if (arrays_bytes(selection->operation, shapes->sizes[i], BACKWARD, FLOAT32) > SIZE_MAX / 8)
            status = usage_error("the arrays of %s are larger than any memory; choose a smaller shape",
                                 sizes_text(selection->operation, shapes->sizes[i], shape));
    if (status == 0 && options->csv != NULL && !selection->operation->placement->is_silent)
        status = output_probe(options->csv);
    return status;
}

/* A line for each kernel that is wanted and does not take some shape. */
static void say_skipped(const struct selection *selection)
{
    char why[256];
    for (int k = 0; k < selection->num_kernels; k++)
        for (int i = 0; i < selection->shapes.count; i++)
            if (selection_wants(selection, &selection->kernels[k]) &&
                selection_refuses(selection, &selection->kernels[k], selection->shapes.sizes[i], why, sizeof why)) {
                printf("skipped: %s\n", why);
                break;
            }
}

static int run_shapes(struct console *console, const struct selection *selection)
{
    const struct placement *placement = selection->operation->placement;
    const struct machine *machine = selection->machine;
    const struct options *options = selection->options;
    const struct shapes *shapes = &selection->shapes;
    int status = 0;
    printf("%s on %s%s (%s)%s\n", selection->chapter->name, placement->devices, machine->device.name, machine->toolkit,
           machine->backend == ON_SIM ? placement->on_sim : "");
    say_skipped(selection);
    table_print_head(&console->run);
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < shapes->count && selection->directions[d]; i++)
            run_shape(console, selection, d, shapes->sizes[i]);
    console_verdict(console);
    if (options->csv != NULL && !placement->is_silent)
        status = csv_write(options->csv, &console->run, console->rows, console->num_rows);
    return console->num_failed > 0 ? 1 : status;
}

int placement_run(struct selection *selection, struct machine *machine)
{
    const struct placement *placement = selection->operation->placement;
    struct console console = {
        .run = {.operation = selection->operation, .machine = machine, .command = selection->options->command}};
    if (placement->begin != NULL)
        placement->begin();
    int status = machine_find(false, machine);
    const int hushed = placement_hush(placement);
    if (status == 0)
        status = prepare(selection);
    placement_speak(hushed);
    status = (int)largest(placement, status);
    if (status == 0)
        status = run_shapes(&console, selection);
    if (placement->end != NULL)
        placement->end();
    console_free(&console);
    return status;
}
