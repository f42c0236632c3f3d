/* SPDX-License-Identifier: MIT */
/* harness.c - see harness.h. The main flow: which kernels and shapes is in selection.c, checking and timing in trial.c,
   what is told of it in console.c. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "array_files.h"
#include "../base/error.h"
#include "options.h"
#include "own_arrays.h"
#include "placement.h"
#include "selection.h"
#include "trial.h"

/* Whether the shapes fit into the memory: all of them if the user has named them, else at least one. The direction
   with the most arrays decides. Returns 0, or 2 after one line. */
static int check_memory(const struct trials *trials)
{
    const struct selection *selection = trials->selection;
    const bool *directions = selection->directions;
    const enum direction direction = directions[BACKWARD] || directions[BACKWARD_REVERSE] ? BACKWARD : FORWARD;
    const struct shapes *shapes = &selection->shapes;
    bool any_fits = false;
    for (int i = 0; i < shapes->count; i++) {
        size_t needed, available;
        char shape[SIZES_TEXT];
        const bool fits = trial_fits(trials, direction, shapes->sizes[i], &needed, &available);
        any_fits = any_fits || fits;
        if (!fits && (selection->options->num_list != 0 || (i == shapes->count - 1 && !any_fits)))
            return usage_error("the arrays of %s need %.3g GB, the device has %.3g GB free; choose a smaller shape",
                               sizes_text(selection->operation, shapes->sizes[i], shape), (double)needed * 1e-9,
                               (double)available * 1e-9);
    }
    return 0;
}

static int create_flush(struct trials *trials)
{
    struct flush *flush = &trials->flush;
    if (flush->bytes != 0 && (cudaMalloc(&flush->buffer, flush->bytes) != cudaSuccess ||
                              cudaMemset(flush->buffer, 0, flush->bytes) != cudaSuccess))
        return usage_error("not enough memory for the %zu bytes that flush the cache", flush->bytes);
    return 0;
}

/* Runs all directions and shapes. Writes the CSV at the end, and with --resume after each shape. Returns 0, or 2 after
   one line. */
static int run_shapes(struct trials *trials)
{
    const struct selection *selection = trials->selection;
    const struct options *options = selection->options;
    const struct shapes *shapes = &selection->shapes;
    struct console *console = trials->console;
    int status = 0;
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < shapes->count && selection->directions[d]; i++)
            console->all_work += trial_work(trials, d, shapes->sizes[i]);
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < shapes->count && selection->directions[d] && status == 0; i++) {
            const bool ran = trial_run(trials, d, shapes->sizes[i]);
            status = trials->status;
            console_work_done(console, trial_work(trials, d, shapes->sizes[i]), ran, selection_compares(selection));
            if (ran && options->resume && status == 0)
                status = csv_write(options->csv, &console->run, console->rows, console->num_rows);
        }
    if (options->csv != NULL && status == 0)
        status = csv_write(options->csv, &console->run, console->rows, console->num_rows);
    return status;
}

static int check_and_time(struct selection *selection)
{
    const struct options *options = selection->options;
    const struct machine *machine = selection->machine;
    struct console console = {.run = {.operation = selection->operation,
                                      .machine = machine,
                                      .command = options->command,
                                      .dtype = options->dtype,
                                      .chosen = selection->chosen,
                                      .compares = selection_compares(selection)}};
    struct trials trials = {.selection = selection, .console = &console};
    console.run.config_width = (int)strlen(launch_config_text(&options->config, ':', trials.config));
    if (machine->backend != ON_SIM && !options->check_only)
        trials.flush.bytes = machine->backend == ON_CUDA ? 2 * (size_t)machine->device.l2CacheSize : (size_t)64 << 20;

    int status = selection_shapes(selection);
    if (status == 0 && options->csv != NULL)
        status = output_probe(options->csv);
    if (status == 0 && options->resume)
        status = resume_read(&console.resume, options->csv, &console.run);
    if (status == 0)
        status = check_memory(&trials);
    if (status == 0)
        status = create_flush(&trials);
    if (status == 0) {
        console_begin(&console, selection->chapter->name, options->seed, options->csv);
        status = run_shapes(&trials);
        if (trials.status == 0 || console.num_failed != 0) { /* else no kernel took --config, and that has been said */
            const int failed = console_end(&console);
            status = failed != 0 ? failed : status;
        }
    }
    if (trials.flush.buffer != NULL)
        cudaFree(trials.flush.buffer);
    free(trials.skip_was_said);
    free(trials.refused);
    console_free(&console);
    return status;
}

static int run_own_arrays(struct selection *selection)
{
    const struct options *options = selection->options;
    const struct trials trials = {.selection = selection};
    struct own_arrays own;
    size_t needed, available;
    char shape[SIZES_TEXT], config[LAUNCH_CONFIG_TEXT];
    int status = own_arrays_read(&own, selection->operation, options);
    if (status != 0)
        return status;
    selection->chosen = own.chosen;
    const struct kernel *kernel = selection_for_arrays(selection, own.direction, own.sizes);
    if (kernel == NULL)
        status = 2;
    else if (!trial_fits(&trials, own.direction, own.sizes, &needed, &available))
        status = usage_error("the arrays need %.3g GB, the device has %.3g GB free", (double)needed * 1e-9,
                             (double)available * 1e-9);
    if (status == 0)
        status = own_arrays_run(&own, kernel, &options->config, selection->machine->backend);
    if (status == 0)
        printf("%s: %s, %s, variant %s%s%s on %s\n", selection->chapter->name,
               sizes_text(selection->operation, own.sizes, shape), pass_name(selection->operation, own.direction),
               kernel->name, launch_config_text(&options->config, ':', config),
               kernel->info->partial ? ", which computes only part of the result," : "",
               selection->machine->device.name);
    own_arrays_free(&own);
    return status;
}

/* Does what the options ask for. *machine is filled in; selection->machine points to it. */
static int run(struct selection *selection, struct machine *machine)
{
    const struct options *options = selection->options;
    if (options->fill != NULL)
        return array_files_fill(selection->operation, options);
    if (options->print != NULL)
        return array_files_print(options->print);
    if (options->list_kernels) {
        selection_list(selection);
        return 0;
    }
    if (selection->operation->placement != NULL)
        return placement_run(selection, machine);
    int status = machine_find(selection->chapter->on_cpu, machine);
    const bool backward = options->backward || is_backward(own_arrays_direction(selection->operation, options));
    if (status == 0)
        status = selection_check(selection, direction_of(backward, options->reverse));
    if (status != 0)
        return status;
    return options->any_file ? run_own_arrays(selection) : check_and_time(selection);
}

int harness_main(int argc, char **argv, const struct chapter *chapter)
{
    struct options options;
    struct selection selection = {.num_kernels = 0};
    struct machine machine;
    output_watch_stdout();
    const int hushed = placement_hush(chapter->operation->placement);
    int status = options_read(argc, argv, chapter->name, chapter->operation, &options);
    placement_speak(hushed);
    if (status >= 0)
        return status;
    status = selection_collect(&selection, chapter, &options, &machine);
    if (status == 0)
        status = run(&selection, &machine);
    selection_free(&selection);
    free(options.command);
    return status;
}
