/* SPDX-License-Identifier: MIT */
/* trial.c - see trial.h */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../base/error.h"
#include "launch_config.h"
#ifdef CUSIM
#include "../../cusim/counts.h"
#endif

/* ---- memory and work ---- */

bool trial_fits(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES], size_t *needed,
                size_t *available)
{
    const struct selection *selection = trials->selection;
    const struct operation *operation = selection->operation;
    struct problem problem = {.operation = operation,
                              .direction = direction,
                              .dtype = selection->options->dtype,
                              .config = selection->options->config};
    const size_t bytes = arrays_bytes(operation, sizes, direction, problem.dtype), margin = (size_t)128 << 20;
    size_t total, workspace = 0;
    memcpy(problem.sizes, sizes, sizeof problem.sizes);
    *available = 0;
    cudaMemGetInfo(available, &total);
    *needed = bytes;
    if (bytes > SIZE_MAX / 8)
        return false;
    for (int k = 0; k < selection->num_kernels && operation->workspace_size != NULL; k++)
        if (selection_wants(selection, &selection->kernels[k])) {
            const size_t wanted = operation->workspace_size(selection->kernels[k].info, &problem);
            workspace = wanted > workspace ? wanted : workspace;
        }
    /* where the device is the host, a check copies all arrays once more */
    *needed = (selection->machine->backend == ON_CUDA ? bytes : 2 * bytes) + workspace + margin;
    if (trials->flush.buffer == NULL)
        *needed += trials->flush.bytes;
    return *needed <= *available;
}

double trial_work(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES])
{
    struct problem problem = {.operation = trials->selection->operation, .direction = direction};
    int kernels = 0;
    memcpy(problem.sizes, sizes, sizeof problem.sizes);
    for (int k = 0; k < trials->selection->num_kernels; k++)
        kernels += selection_wants(trials->selection, &trials->selection->kernels[k]) &&
                   trials->selection->kernels[k].runs[direction];
    const double count = (double)problem_count(&problem), part = sizes[0] != 0 ? count / (double)sizes[0] : 0.0;
    const double launches = 5.0, one_thread_walks = 1e-3 * part, host_compares = 1e-5 * fmin(count, 1e6);
    return kernels * (launches + one_thread_walks + host_compares + 2e-7 * count);
}

/* ---- --config ---- */

/* A launcher may refuse a combination of what it takes one by one: many threads with many stages, for want of
   shared memory. Such kernels are left out, which is an error if no other takes the shape. */
static void try_config(struct trials *trials, struct arrays *arrays)
{
    const struct selection *selection = trials->selection;
    const struct launch_config *config = &selection->options->config;
    const char *variant = selection->options->variant;
    const struct data data = {selection->options->seed, selection->operation->timed_kind};
    int num_taken = 0, num_refused = 0;
    char given[LAUNCH_CONFIG_TEXT];

    if (!launch_config_given(config) || arrays_fill(arrays, &data) != cudaSuccess)
        return;
    launch_config_text(config, ',', given);
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        if (!selection_runs(selection, kernel, arrays->problem.direction, arrays->problem.sizes))
            continue;
        const cudaError_t error = arrays_launch(arrays, kernel);
        trials->refused[k] = launch_config_refused(config, error);
        num_refused += trials->refused[k];
        num_taken += !trials->refused[k];
        if (trials->refused[k] && variant == NULL && !trials->skip_was_said[k])
            fprintf(stderr, "skipped: %s does not run with %s here (%s)\n", kernel->name, given + 1,
                    cudaGetErrorString(error));
        trials->skip_was_said[k] = trials->skip_was_said[k] || trials->refused[k];
    }
    if (num_refused != 0 && num_taken == 0)
        trials->status =
            usage_error("%s %s with %s here, " LAUNCH_CONFIG_CAUSE, variant != NULL ? variant : "no variant",
                        variant != NULL ? "does not run" : "runs", given + 1);
}

/* ---- checks ---- */

/* Checks once for all shapes, at the first one in which there is something to compute, that the chapter's own launchers
   keep their promises (operation->contract). */
static void check_contracts(struct trials *trials, const struct problem *problem)
{
    static const enum direction passes[] = {FORWARD, BACKWARD};
    const struct selection *selection = trials->selection;
    const bool on_cpu = selection->machine->backend == ON_CPU;
    const size_t nothing[MAX_SIZES] = {0};
    char text[512];
    if (selection->operation->contract == NULL || trials->contracts_checked || problem_count(problem) == 0 ||
        launch_config_given(&selection->options->config))
        return; /* --config may be what a launcher refuses: runs without it check the promises */
    trials->contracts_checked = true;
    for (int k = 0; k < selection->num_kernels; k++)
        for (int pass = 0; pass < 2; pass++) {
            const struct kernel *kernel = &selection->kernels[k];
            const char *direction = pass_name(selection->operation, passes[pass]);
            if (kernel->is_compared || !selection_runs(selection, kernel, passes[pass], nothing))
                continue;
            console_progress(trials->console, "checking the launcher of %s %s", kernel->name, direction);
            trials->console->num_checks++;
            selection->operation->contract(kernel->info, passes[pass], on_cpu, text, sizeof text);
            if (text[0] != '\0')
                console_failed(trials->console, "%s %s: %s", kernel->name, direction, text);
        }
}

/* Checks every wanted kernel on one kind of data. errors[k]: the largest error of kernel k so far. `with` is empty, or
   says which flags and optional arrays there are. */
static void check_kind(struct trials *trials, struct arrays *arrays, int kind, const char *with, double *errors)
{
    const struct selection *selection = trials->selection;
    const struct operation *operation = selection->operation;
    const struct problem *problem = &arrays->problem;
    const struct data data = {selection->options->seed, kind};
    const cudaError_t error = arrays_fill(arrays, &data);
    char shape[SIZES_TEXT];
    struct check check;

    sizes_text(operation, problem->sizes, shape);
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        if (kernel->info->partial || trials->refused[k] || (kernel->lacks & arrays->chosen) != 0 ||
            (kernel->kinds_left_out >> kind & 1) != 0 || (kernel->is_compared && kind != operation->hardest_kind) ||
            !selection_runs(selection, kernel, problem->direction, problem->sizes))
            continue;
        console_progress(trials->console, "checking %s %s, %s, %s%s", kernel->name,
                         pass_name(operation, problem->direction), shape, operation->kind_name(kind), with);
        trials->console->num_checks++;
        if (error == cudaSuccess) {
            check_launch(arrays, kernel, &data, &check);
        } else {
            snprintf(check.text, sizeof check.text, "the test data could not be written: %s",
                     cudaGetErrorString(error));
            check.max_error = INFINITY;
        }
        errors[k] = fmax(errors[k], check.max_error);
        if (check.text[0] != '\0')
            console_failed(trials->console, "%s %s, %s, %s %s%s: %s", kernel->name,
                           pass_name(operation, problem->direction), shape, operation->kind_name(kind),
                           operation->filled, with, check.text);
    }
}

/* The choices that are checked: what --with names, or a list in which every flag and optional array is there and is
   not; on tiny shapes all combinations. Flags that were given are always on. Returns how many. */
static int choices_of(const struct selection *selection, const struct problem *problem, choice list[MAX_CHOICES])
{
    const size_t tiny = 1024;
    const choice all = choice_all(problem->operation, problem->direction);
    if (selection->options->with == NULL)
        return choice_list(problem->operation, problem->direction, selection->options->flags, selection->chosen,
                           problem_count(problem) <= tiny, list);
    list[0] = selection->chosen & all;
    return 1;
}

/* Checks every wanted kernel on every kind of data that fits the shape with all that may be chosen, and with nothing if
   nothing is timed; and on the telling kind with all other choices. Large shapes are checked on the two kinds that find
   the most. */
static void check_shape(struct trials *trials, struct arrays *arrays, double *errors)
{
    const struct operation *operation = trials->selection->operation;
    const size_t large = arrays->backend == ON_CUDA ? (size_t)1 << 24 : (size_t)1 << 20;
    const bool is_large = problem_count(&arrays->problem) > large;
    choice choices[MAX_CHOICES];
    const int num_choices = choices_of(trials->selection, &arrays->problem, choices);

    for (int i = 0; i < num_choices; i++) {
        char names[CHOICE_TEXT], with[CHOICE_TEXT + 16] = "";
        const bool all_kinds = i == 0 || (choices[i] == 0 && choice_timed(operation) == 0);
        if (choice_is_told(operation, choices[i]))
            snprintf(with, sizeof with, ", --with %s", choice_text(operation, choices[i], ',', names));
        arrays_choose(arrays, choices[i]);
        for (int kind = 0; kind < operation->num_kinds; kind++)
            if ((all_kinds || kind == operation->hardest_kind) &&
                (operation->kind_fits == NULL || operation->kind_fits(&arrays->problem, kind)) &&
                (!is_large || kind == operation->timed_kind || kind == operation->hardest_kind))
                check_kind(trials, arrays, kind, with, errors);
    }
}

/* ---- times ---- */

/* Nobody promises that all places where cudaMalloc may put the arrays are alike, so a short launch is timed in several
   sets of arrays in turn. The first set is the one that was checked. */
enum { MAX_PLACES = 4 };

struct places {
    int count;
    struct arrays arrays[MAX_PLACES];
};

/* Short launches scatter more than long ones: they have more places and more repeats. */
static bool is_short(const struct problem *problem)
{
    return problem_count(problem) < (size_t)1 << 25;
}

/* Fills `arrays` with what is timed, and further sets like it, as far as there is plenty of memory. */
static cudaError_t places_create(struct places *places, const struct arrays *arrays, const struct data *data)
{
    const struct problem *problem = &arrays->problem;
    const int wanted = arrays->backend == ON_CUDA && is_short(problem) ? MAX_PLACES : 1;
    const size_t bytes = arrays_bytes(problem->operation, problem->sizes, problem->direction, problem->dtype);
    cudaError_t error = cudaSuccess;
    places->count = 0;
    for (int i = 0; i < wanted && error == cudaSuccess; i++) {
        struct arrays *const place = &places->arrays[i];
        size_t available = 0, total;
        cudaMemGetInfo(&available, &total);
        if (i > 0 &&
            (available / 4 < bytes || arrays_create(place, problem->operation, problem->sizes, problem->direction,
                                                    problem->dtype, arrays->backend) != cudaSuccess))
            break;
        if (i == 0)
            *place = *arrays;
        place->problem.config = problem->config;
        arrays_choose(place, arrays->chosen);
        places->count++;
        error = arrays_fill(place, data);
    }
    return error;
}

static void places_free(struct places *places)
{
    for (int i = 1; i < places->count; i++)
        arrays_free(&places->arrays[i]);
}

static cudaError_t places_take_workspace(struct places *places, const struct kernel *kernel)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < places->count && error == cudaSuccess; i++)
        error = arrays_take_workspace(&places->arrays[i], kernel);
    return error;
}

static void places_drop_workspace(struct places *places)
{
    for (int i = 0; i < places->count; i++)
        arrays_drop_workspace(&places->arrays[i]);
}

/* Counts what one launch does on the simulator, and labels its trace. */
static cudaError_t count_launch(const struct run *run, launch_function *launch, const void *what,
                                const struct problem *problem, struct row *row)
{
#ifdef CUSIM
    char columns[KEY_TEXT], key[KEY_TEXT];
    sim_reset_counts();
    cudaError_t error = launch(what, problem, NULL);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    const struct sim_counts counts = sim_get_counts();
    row->counted = true;
    row->blocks = counts.blocks;
    row->threads = counts.threads;
    row->barriers = counts.barriers;
    row->shuffles = counts.shuffles;
    sim_trace(csv_key_columns(run, columns), csv_key(run, row, key));
    return error;
#else
    (void)run, (void)launch, (void)what, (void)problem, (void)row;
    return cudaErrorNotSupported;
#endif
}

/* Times a launch in all places in turn. */
static cudaError_t time_launch(const struct trials *trials, const struct places *places, launch_function *launch,
                               const void *what, struct row *row)
{
    struct problem problems[MAX_PLACES];
    const int given = trials->selection->options->repeats;
    int repeats = given != 0                             ? given
                  : places->arrays[0].backend != ON_CUDA ? 7
                  : is_short(&places->arrays[0].problem) ? 101
                                                         : 25;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < places->count; i++)
        problems[i] = places->arrays[i].problem;

    if (selection_compares(trials->selection) && repeats > 5) { /* as many as fit into 0.2 s, at least 5 */
        error = measure(launch, what, problems, 1, 1, &trials->flush, &row->timing);
        if (error == cudaSuccess)
            repeats = (int)fmin(repeats, fmax(5.0, 200.0 / row->timing.median_ms));
    }
    if (error == cudaSuccess)
        error = measure(launch, what, problems, places->count, repeats, &trials->flush, &row->timing);
    row->timed = error == cudaSuccess;
    return error;
}

/* Times a launch, or counts what it does on the simulator, into *row. One that fails is a failed check. `name`: for
   messages. */
static void measure_launch(struct trials *trials, const struct places *places, launch_function *launch,
                           const void *what, const char *name, struct row *row)
{
    const struct problem *problem = &places->arrays[0].problem;
    char shape[SIZES_TEXT];

    sizes_text(problem->operation, problem->sizes, shape);
    console_progress(trials->console, "timing %s %s, %s", name, row->direction, shape);
    const cudaError_t error = places->arrays[0].backend == ON_SIM
                                  ? count_launch(&trials->console->run, launch, what, problem, row)
                                  : time_launch(trials, places, launch, what, row);
    if (error != cudaSuccess)
        console_failed(trials->console, "%s %s, %s: the launch failed: %s", name, row->direction, shape,
                       cudaGetErrorString(error));
}

/* What of a pass is chosen to be timed. */
static choice chosen_of(const struct trials *trials, enum direction direction)
{
    return trials->selection->chosen & choice_all(trials->selection->operation, direction);
}

/* The pass's two baselines, each as a row of its own. *copy and *add become their GB/s, and stay 0 if there is none. */
static void time_baselines(struct trials *trials, const struct places *places, double *copy, double *add)
{
    const struct selection *selection = trials->selection;
    const struct operation *operation = selection->operation;
    const struct arrays *arrays = &places->arrays[0];
    const bool backward = is_backward(arrays->problem.direction);
    const choice chosen = chosen_of(trials, arrays->problem.direction);
    const struct baseline *baselines[] = {&operation->copy[backward], &operation->add[backward]};
    double *reached[] = {copy, add};
    for (int i = 0; i < 2; i++) {
        if (arrays->backend == ON_SIM || !choice_has_baseline(operation, chosen, baselines[i]))
            continue;
        struct row row = {.chapter = BASELINES, /* the chapter that explains them, as the makefile has found it */
                          .variant = baseline_name(baselines[i]),
                          .config = "",
                          .direction = pass_name(operation, arrays->problem.direction),
                          .dtype = selection->options->dtype,
                          .chosen = chosen,
                          .bytes = baseline_bytes(baselines[i], &arrays->problem)};
        memcpy(row.sizes, arrays->problem.sizes, sizeof row.sizes);
        measure_launch(trials, places, baseline_launch, baselines[i], row.variant, &row);
        *reached[i] = row_gb_per_s(&row);
        row.copy_gb_per_s = *copy;
        row.add_gb_per_s = *add;
        console_row(trials->console, &row);
    }
}

/* Times all wanted kernels on the workload that is timed. errors: what check_shape found. */
static void time_shape(struct trials *trials, struct arrays *arrays, const double *errors)
{
    const struct selection *selection = trials->selection;
    const struct operation *operation = selection->operation;
    const struct problem *problem = &arrays->problem;
    const struct data data = {selection->options->seed, operation->timed_kind};
    const bool timing = !selection->options->check_only && problem_count(problem) != 0;
    struct places places = {0};
    double copy = 0.0, add = 0.0;
    char why[256], shape[SIZES_TEXT];

    arrays_choose(arrays, selection->chosen);
    const bool filled = timing && places_create(&places, arrays, &data) == cudaSuccess;
    if (filled)
        time_baselines(trials, &places, &copy, &add);
    if (timing && !filled)
        console_failed(trials->console, "%s of %s: the test data could not be written",
                       pass_name(operation, problem->direction), sizes_text(operation, problem->sizes, shape));
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        if (!selection_wants(selection, kernel) || !kernel->runs[problem->direction])
            continue;
        if (selection_refuses(selection, kernel, problem->sizes, why, sizeof why)) {
            if (!trials->skip_was_said[k])
                fprintf(trials->selection->shapes_named ? stderr : stdout, "skipped: %s\n", why);
            trials->skip_was_said[k] = true;
            continue;
        }
        if (trials->refused[k]) /* try_config has said so */
            continue;
        struct row row = {.chapter = kernel->chapter,
                          .variant = kernel->info->name,
                          .config = trials->config,
                          .direction = pass_name(operation, problem->direction),
                          .dtype = selection->options->dtype,
                          .chosen = chosen_of(trials, problem->direction),
                          .bytes = kernel->info->moves_nothing ? 0.0 : problem_bytes(problem),
                          .operations = operation->operations != NULL ? operation->operations(problem) : 0.0,
                          .copy_gb_per_s = copy,
                          .add_gb_per_s = add,
                          .checked = !kernel->info->partial,
                          .max_error = errors[k]};
        memcpy(row.sizes, problem->sizes, sizeof row.sizes);
        if (filled && errors[k] <= 1.0) { /* a wrong result has no speed */
            const cudaError_t error = places_take_workspace(&places, kernel);
            if (error == cudaSuccess)
                measure_launch(trials, &places, operation->launch, kernel->info, kernel->name, &row);
            else
                console_failed(trials->console, "%s %s, %s: no memory for its workspace", kernel->name, row.direction,
                               sizes_text(operation, problem->sizes, shape));
            places_drop_workspace(&places);
        }
        console_row(trials->console, &row);
    }
    places_free(&places);
}

/* ---- both ---- */

/* How many rows the trial gives, if all is right. */
static size_t count_rows(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES])
{
    const struct selection *selection = trials->selection;
    const struct operation *operation = selection->operation;
    const bool timed = selection->machine->backend != ON_SIM, backward = is_backward(direction);
    const choice chosen = chosen_of(trials, direction);
    size_t count = timed && choice_has_baseline(operation, chosen, &operation->copy[backward]);
    count += timed && choice_has_baseline(operation, chosen, &operation->add[backward]);
    for (int k = 0; k < selection->num_kernels; k++)
        count += selection_runs(selection, &selection->kernels[k], direction, sizes);
    return count;
}

bool trial_run(struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES])
{
    const struct selection *selection = trials->selection;
    struct arrays arrays;
    size_t needed, available;
    char shape[SIZES_TEXT];

    if (console_take_over(trials->console, direction, sizes, count_rows(trials, direction, sizes)))
        return false;
    sizes_text(selection->operation, sizes, shape);
    const bool fits = trial_fits(trials, direction, sizes, &needed, &available);
    if (!fits || arrays_create(&arrays, selection->operation, sizes, direction, selection->options->dtype,
                               selection->machine->backend) != cudaSuccess) {
        fprintf(stderr, "skipped %s of %s: it needs %.3g GB, the device has %.3g GB free\n",
                pass_name(selection->operation, direction), shape, (double)needed * 1e-9, (double)available * 1e-9);
        if (fits) /* there was room for it, so an allocation should not fail */
            console_failed(trials->console, "%s of %s: no memory", pass_name(selection->operation, direction), shape);
        return false;
    }
    const size_t num_kernels = (size_t)selection->num_kernels;
    double *errors = calloc(num_kernels, sizeof *errors);
    if (trials->skip_was_said == NULL) {
        trials->skip_was_said = calloc(num_kernels, sizeof *trials->skip_was_said);
        trials->refused = calloc(num_kernels, sizeof *trials->refused);
    }
    if (errors == NULL || trials->skip_was_said == NULL || trials->refused == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    arrays.problem.config = selection->options->config;
    arrays_choose(&arrays, selection->chosen);
    try_config(trials, &arrays);
    if (trials->status == 0) {
        check_contracts(trials, &arrays.problem);
        check_shape(trials, &arrays, errors);
        time_shape(trials, &arrays, errors);
    }
    free(errors);
    arrays_free(&arrays);
    return trials->status == 0;
}
