/* SPDX-License-Identifier: MIT */
/* decay.c - the operation of decay.h, and its table: what a chapter with an operation of its own has. */
#include "decay.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../harness/machine.h"
#include "../../linrec/linrec_data.h"
#include "../../harness/harness.h"

enum { ROWS, COLUMNS };
enum { NEGATED };
enum { D_Y, X, DECAY, START, Y, LAST, D_X, D_DECAY, D_START };

/* ---- test data ---- */

enum { UNIFORM, NEAR_ONE, SIGNED, NONFINITE, NUM_KINDS };

static const char *kind_name(int kind)
{
    static const char *const names[NUM_KINDS] = {"uniform", "near one", "signed", "nonfinite"};
    return names[kind];
}

/* All arrays have one seed, so the array's number is added: else they would hold the same numbers. */
static float normal(const struct data *data, int array, size_t i)
{
    return data_normal(data->seed + 100 * (uint64_t)array, DATA_INPUTS, i);
}

static void fill(const struct problem *problem, const struct data *data)
{
    const size_t rows = problem->sizes[ROWS], columns = problem->sizes[COLUMNS];
    const bool backward = is_backward(problem->direction);
    const int many[] = {backward ? D_Y : X, backward ? Y : X};
    float *decay = problem->arrays[DECAY], *start = problem->arrays[START];
    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < rows * columns; i++)
            array_set(problem, many[a], i, normal(data, many[a], i));
    for (size_t r = 0; start != NULL && r < rows; r++)
        start[r] = normal(data, START, r);
    for (size_t c = 0; c < columns; c++) {
        const float uniform = data_uniform(data->seed, DATA_COEFFS, c);
        decay[c] = data->kind == NEAR_ONE ? 1.0f - uniform / 1024 : data->kind == SIGNED ? 2 * uniform - 1 : uniform;
    }
    if (data->kind == NONFINITE && columns != 0) /* a NaN in every other row, which must stay there */
        for (size_t r = 0; r < rows; r += 2)
            array_set(problem, many[0], r * columns + r % columns, NAN);
}

/* ---- the oracle ---- */

/* A value, and how far a float32 result may be from it: rounding errors to first order, and a hundredth more. */
struct bounded {
    double value, error;
};

/* a * b + c, rounded after each: b has an error of its own. */
static struct bounded step(double a, struct bounded b, double c)
{
    const double product = a * b.value, sum = product + c;
    return (struct bounded){sum, fabs(a) * b.error + 1.01 * 0x1p-24 * (fabs(product) + fabs(sum)) + (double)FLT_MIN};
}

static double sign_of(const struct problem *problem)
{
    return problem->flags[NEGATED] ? -1.0 : 1.0;
}

static void check_forward(const struct problem *problem, struct finding *finding)
{
    const size_t rows = problem->sizes[ROWS], columns = problem->sizes[COLUMNS];
    const float *decay = problem->arrays[DECAY], *start = problem->arrays[START], *last = problem->arrays[LAST];
    const double sign = sign_of(problem);
    for (size_t r = 0; r < rows; r++) {
        struct bounded sum = {start != NULL ? start[r] : 0.0, 0.0};
        for (size_t c = 0; c < columns; c++) {
            sum = step(sign * decay[c], sum, array_get(problem, X, r * columns + c));
            array_check(problem, Y, r * columns + c, sum.value, sum.error, finding);
        }
        if (last != NULL)
            finding_add(finding, LAST, r, last[r], sum.value, sum.error);
    }
}

/* A column of d_decay: all of its products' errors, and as many roundings of a sum as there are rows. */
static struct bounded sum_column(const struct problem *problem, size_t c, const struct bounded *d_x)
{
    const size_t rows = problem->sizes[ROWS], columns = problem->sizes[COLUMNS];
    const float *start = problem->arrays[START];
    struct bounded sum = {0.0, 0.0};
    double size = 0.0;
    for (size_t r = 0; r < rows; r++) {
        const double before = c > 0 ? array_get(problem, Y, r * columns + c - 1) : start != NULL ? start[r] : 0.0;
        const struct bounded product = step(sign_of(problem) * before, d_x[r * columns + c], 0.0);
        sum.value += product.value;
        sum.error += product.error;
        size += fabs(product.value);
    }
    sum.error += 1.01 * 0x1p-24 * (double)rows * size;
    return sum;
}

static void check_backward(const struct problem *problem, struct finding *finding)
{
    const size_t rows = problem->sizes[ROWS], columns = problem->sizes[COLUMNS];
    const float *decay = problem->arrays[DECAY], *d_decay = problem->arrays[D_DECAY],
                *d_start = problem->arrays[D_START];
    const double sign = sign_of(problem);
    struct bounded *all = malloc(rows * columns * sizeof *all + 1);
    if (all == NULL) {
        finding_add(finding, D_X, 0, NAN, 0.0, 0.0);
        return;
    }
    for (size_t r = 0; r < rows; r++) {
        struct bounded sum = {0.0, 0.0};
        for (size_t c = columns; c-- > 0;) {
            const size_t i = r * columns + c;
            const double d_y = array_get(problem, D_Y, i);
            all[i] = sum = c + 1 < columns ? step(sign * decay[c + 1], sum, d_y) : (struct bounded){d_y, 0.0};
            all[i].error += dtype_rounding(problem->dtype, fabs(sum.value) + sum.error); /* it may be read again */
            array_check(problem, D_X, i, sum.value, sum.error, finding);
        }
        if (d_start != NULL && columns != 0) {
            sum = step(sign * decay[0], sum, 0.0);
            finding_add(finding, D_START, r, d_start[r], sum.value, sum.error);
        }
    }
    for (size_t c = 0; d_decay != NULL && c < columns; c++) {
        const struct bounded sum = sum_column(problem, c, all);
        finding_add(finding, D_DECAY, c, d_decay[c], sum.value, sum.error);
    }
    free(all);
}

static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    (void)data, (void)levels;
    if (is_backward(problem->direction))
        check_backward(problem, finding);
    else
        check_forward(problem, finding);
}

/* ---- the kernels ---- */

static const struct decay_kernel kernels[] = {
    {.info.name = "serial",
     .info.idea = "a thread a row, then a thread a column",
     .forward = decay_serial_forward,
     .backward = decay_serial_backward,
     .info.is_default = true},
    {.info.name = "blocks",
     .info.idea = "the same in blocks of any size, its products in memory",
     .forward = decay_blocks_forward,
     .backward = decay_blocks_backward,
     .max_columns = 1000,
     .info.tunable.max_threads = 1024,
     .has_workspace = true},
    {.info.name = "empty", .info.idea = "nothing", .forward = decay_empty_forward, .info.partial = true},
    {.info.name = NULL},
};

static const struct decay_kernel mistakes[] = {
    {.info.name = "no_start", .info.idea = "forgets start", .forward = decay_no_start_forward, .info.is_default = true},
    {.info.name = "no_sign", .info.idea = "forgets a flag", .forward = decay_no_sign_forward},
    {.info.name = "no_pair", .info.idea = "wrong with a flag and without an array", .forward = decay_no_pair_forward},
    {.info.name = "wide",
     .info.idea = "no mistake, of float32 alone",
     .forward = decay_serial_forward,
     .info.float32_only = true},
    {.info.name = "narrow",
     .info.idea = "no mistake, of 16 bits alone",
     .forward = decay_serial_forward,
     .info.bits16_only = true},
    {.info.name = "no_last", .info.idea = "leaves out the last column", .forward = decay_no_last_forward},
    {.info.name = "past", .info.idea = "writes past the end", .forward = decay_past_forward},
    {.info.name = "changes", .info.idea = "changes what it reads", .forward = decay_changes_forward},
    {.info.name = "cut", .info.idea = "does not round bf16", .forward = decay_cut_forward},
    {.info.name = "late", .info.idea = "takes the wrong decay", .backward = decay_late_backward},
    {.info.name = "dirty",
     .info.idea = "leaves its workspace dirty",
     .backward = decay_dirty_backward,
     .has_workspace = true},
    {.info.name = "lost_row", .info.idea = "adds up all rows but one", .backward = decay_lost_row_backward},
    {.info.name = NULL},
};

static void describe(const void *which, struct kernel *kernel)
{
    const struct decay_kernel *row = which;
    kernel->runs[FORWARD] = row->forward != NULL;
    kernel->runs[BACKWARD] = row->backward != NULL;
    if (row->max_columns != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "up to %zu columns", row->max_columns);
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct decay_kernel *row = which;
    void *const *arrays = problem->arrays;
    const struct decay_args args = {.rows = problem->sizes[ROWS],
                                    .columns = problem->sizes[COLUMNS],
                                    .negated = problem->flags[NEGATED],
                                    .dtype = problem->dtype,
                                    .threads = problem->config.threads,
                                    .x = arrays[X],
                                    .decay = arrays[DECAY],
                                    .start = arrays[START],
                                    .y = arrays[Y],
                                    .last = arrays[LAST],
                                    .d_y = arrays[D_Y],
                                    .d_x = arrays[D_X],
                                    .d_decay = arrays[D_DECAY],
                                    .d_start = arrays[D_START],
                                    .workspace = problem->workspace};
    return (is_backward(problem->direction) ? row->backward : row->forward)(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct decay_kernel *row = which;
    if (row->max_columns == 0 || sizes[COLUMNS] <= row->max_columns)
        return false;
    snprintf(why, size, "takes up to %zu columns, not %zu", row->max_columns, sizes[COLUMNS]);
    return true;
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct decay_kernel *row = which;
    return row->has_workspace ? problem->sizes[ROWS] * problem->sizes[COLUMNS] * sizeof(float) : 0;
}

static void owner(const void *which, const struct problem *problem, int array, const size_t position[MAX_DIMS],
                  char *text, size_t size)
{
    (void)which, (void)problem;
    snprintf(text, size, "thread %zu of the %s", position[0], array == D_DECAY ? "columns" : "rows");
}

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const size_t sizes[3][MAX_SIZES] = {{3, 5}, {70, 33}, {1, 1100}};
    (void)machine;
    for (int i = 0; i < 3; i++)
        shapes_add(shapes, sizes[i]);
}

#define BOTH .num_dims = 2, .dims = {ROWS, COLUMNS}
#define ONE(size_) .num_dims = 1, .dims = {size_}

static const struct operation decay_operation = {
    .name = "leaking sum",
    .num_sizes = 2,
    .sizes = {[ROWS] = {"rows", "number of rows", "sums side by side", .is_list = true},
              [COLUMNS] = {"columns", "number of columns", "elements of a sum", .is_list = false}},
    .num_flags = 1,
    .flags = {[NEGATED] = {"negated", "take each decay with the other sign", .timed = false}},
    .num_arrays = 9,
    .arrays = {[D_Y] = {"d_y", "DY", UNTOUCHED, READ, .stored = true, BOTH},
               [X] = {"x", "X", READ, UNTOUCHED, .stored = true, BOTH},
               [DECAY] = {"decay", "D", READ, READ, ONE(COLUMNS)},
               [START] = {"start", "S", READ, READ, .optional = true, .timed = true, ONE(ROWS)},
               [Y] = {"y", "Y", WRITTEN, READ, .stored = true, BOTH},
               [LAST] = {"last", "L", WRITTEN, UNTOUCHED, .optional = true, ONE(ROWS)},
               [D_X] = {"d_x", "DX", UNTOUCHED, WRITTEN, .stored = true, BOTH},
               [D_DECAY] = {"d_decay", "DD", UNTOUCHED, WRITTEN, ONE(COLUMNS)},
               [D_START] = {"d_start", "DS", UNTOUCHED, WRITTEN, .goes_with = "start", ONE(ROWS)}},
    .default_shapes = default_shapes,
    .filled = "decays",
    .num_kinds = NUM_KINDS,
    .timed_kind = UNIFORM,
    .hardest_kind = NEAR_ONE,
    .kind_name = kind_name,
    .fill = fill,
    .check = check,
    .copy = {{COPY, {X, Y}}, {COPY, {D_Y, D_X}}},
    .row_bytes = sizeof(struct decay_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
    .workspace_size = workspace_size,
    .owner = owner,
};

/* `comparison` has no kernels of its own: it compares some of the right ones with one that has a mistake. */
const struct chapter decay_chapter = {.name = "decay", .operation = &decay_operation, .kernels = kernels};
const struct chapter mistakes_chapter = {.name = "mistakes", .operation = &decay_operation, .kernels = mistakes};
const struct chapter compared_chapter = {
    .name = "comparison",
    .operation = &decay_operation,
    .kernels = &kernels[3], /* none of its own */
    .compares_with = {{"mistakes", mistakes, {"past", NULL}}, {"decay", kernels, {"serial", "blocks", NULL}}}};
