/* SPDX-License-Identifier: MIT */
/* own_arrays.c - see own_arrays.h */
#include "own_arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/error.h"
#include "launch_config.h"

enum { LIST_TEXT = 40 * MAX_ARRAYS };

/* ---- which files ---- */

/* Whether a file for the array tells that a backward pass is wanted, because no other pass uses it. */
static bool tells_backward(const struct array *array)
{
    return array->forward == UNTOUCHED && array->backward == READ;
}

enum direction own_arrays_direction(const struct operation *operation, const struct options *options)
{
    bool backward = false;
    for (int a = 0; a < operation->num_arrays; a++)
        backward = backward || (options->files[a] != NULL && tells_backward(&operation->arrays[a]));
    return direction_of(backward, options->reverse);
}

/* Whether a pass cannot do without the array. */
static bool is_needed(const struct array *array, enum direction direction)
{
    return array_role(array, direction) != UNTOUCHED && !array->optional && array->goes_with == NULL;
}

/* "--inputs, --coeffs and --outputs": the arrays that a pass must have. Returns text. */
static const char *list_needed(const struct operation *operation, enum direction direction, char text[LIST_TEXT])
{
    char option[OPTION_TEXT];
    int needed = 0, named = 0, used = 0;
    for (int a = 0; a < operation->num_arrays; a++)
        needed += is_needed(&operation->arrays[a], direction);
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        if (!is_needed(array, direction))
            continue;
        used += sprintf(text + used, "%s--%s",
                        named == 0            ? ""
                        : named == needed - 1 ? " and "
                                              : ", ",
                        option_of(array->name, option));
        named++;
    }
    return text;
}

/* "forward takes ...; backward takes ...". Returns text. */
static const char *complete_sets(const struct operation *operation, char text[2 * LIST_TEXT])
{
    char forward[LIST_TEXT], backward[LIST_TEXT];
    list_needed(operation, BACKWARD, backward);
    sprintf(text, "forward takes %s%s%s", list_needed(operation, FORWARD, forward),
            *backward != '\0' ? "; backward takes " : "", backward);
    return text;
}

/* "--num-seqs and --seq-len". Returns text. */
static const char *list_sizes(const struct operation *operation, char text[LIST_TEXT])
{
    char option[OPTION_TEXT];
    int used = 0;
    for (int s = 0; s < operation->num_sizes; s++)
        used += sprintf(text + used, "%s--%s",
                        s == 0                          ? ""
                        : s == operation->num_sizes - 1 ? " and "
                                                        : ", ",
                        option_of(operation->sizes[s].name, option));
    return text;
}

static int check_set(const struct operation *operation, const struct options *options, enum direction direction,
                     choice chosen)
{
    const bool backward = is_backward(direction);
    char complete[2 * LIST_TEXT], text[LIST_TEXT], option[OPTION_TEXT], told[OPTION_TEXT] = "";
    complete_sets(operation, complete);
    for (int s = 0; s < operation->num_sizes; s++)
        if (options->size_given[s])
            return usage_error("%s do not go with arrays, whose files say their shape; leave them out",
                               list_sizes(operation, text));
    if (options->csv != NULL || options->check_only)
        return usage_error("--csv and --check-only do not go with arrays; leave them out");
    if (options->with != NULL)
        return usage_error("--with does not go with arrays, which are there or not by themselves; leave it out");
    for (int a = 0; a < operation->num_arrays; a++)
        if (tells_backward(&operation->arrays[a]) && (*told == '\0' || options->files[a] != NULL))
            option_of(operation->arrays[a].name, told);
    if (options->backward && !backward)
        return usage_error("--backward needs --%s; %s", told, complete);
    if (options->forward && backward)
        return usage_error("--forward does not go with --%s; %s", told, complete);
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        const enum role role = array_role(array, direction);
        const bool given = options->files[a] != NULL, needed = is_needed(array, direction);
        if (given && role == UNTOUCHED && backward)
            return usage_error("--%s does not go with --%s; %s", option_of(array->name, option), told, complete);
        if ((given && role == UNTOUCHED) || (!given && needed))
            return usage_error("the set of arrays is not complete; %s", complete);
        if (role != UNTOUCHED && array->goes_with != NULL && given != choice_has(operation, chosen, a))
            return usage_error("--%s goes with --%s; name both or neither", option_of(array->name, option),
                               option_of(array->goes_with, told));
    }
    return 0;
}

/* Two outputs must not end up in one file, by whatever names. Returns 0, or 2 after one line. */
static int refuse_same_file(const struct own_arrays *own, int a, int b)
{
    struct output first, second;
    struct stat status;
    char name[OPTION_TEXT], other[OPTION_TEXT];
    if ((stat(own->paths[a], &status) == 0 && !S_ISREG(status.st_mode)) ||
        (stat(own->paths[b], &status) == 0 && !S_ISREG(status.st_mode)))
        return 0; /* pipes and devices are not replaced */
    if (output_open(&first, own->paths[a]) != 0)
        return 2;
    int result = output_open(&second, own->paths[b]); /* each is written beside its place, so both can be open */
    if (result == 0 && strcmp(first.target, second.target) == 0)
        result =
            usage_error("--%s and --%s name the same file; name two", option_of(own->operation->arrays[a].name, name),
                        option_of(own->operation->arrays[b].name, other));
    output_discard(&second);
    output_discard(&first);
    return result;
}

static bool is_written(const struct own_arrays *own, int a)
{
    return own->with[a] && array_role(&own->operation->arrays[a], own->direction) == WRITTEN;
}

static int check_written(const struct own_arrays *own)
{
    int status = 0;
    for (int a = 0; a < own->operation->num_arrays && status == 0; a++)
        if (is_written(own, a))
            status = output_probe(own->paths[a]);
    for (int a = 0; a < own->operation->num_arrays && status == 0; a++)
        for (int b = 0; b < a && status == 0; b++)
            if (is_written(own, a) && is_written(own, b))
                status = refuse_same_file(own, b, a);
    return status;
}

/* ---- their shapes ---- */

/* Whether a file of the array may leave out the first dimension: no file holds a single number. */
static bool may_leave_out(const struct array *array)
{
    return array_is_independent(array) && array->num_dims > 1;
}

/* Takes the sizes that one file gives. known[s]: the array whose file has given size s; *said_by: the array whose file
   has shown whether the first dimension is left out; -1: none yet. Returns 0, or 2 after one line. */
static int take_shape(struct own_arrays *own, int a, int known[MAX_SIZES], int *said_by)
{
    const struct array *array = &own->operation->arrays[a];
    const struct npy *npy = &own->read[a];
    const int left_out = array->num_dims - npy->num_dims;
    char mine[NPY_SHAPE_TEXT], other[NPY_SHAPE_TEXT], wanted[SHAPE_TEXT];

    if (left_out < 0)
        return usage_error("%s: it has more than %d dimension%s; reshape it to %s", own->paths[a], array->num_dims,
                           array->num_dims == 1 ? "" : "s", array_shape_text(own->operation, array, wanted));
    if (left_out > (may_leave_out(array) ? 1 : 0))
        return usage_error("%s: it has fewer than %d dimensions; reshape it to %s", own->paths[a], array->num_dims,
                           array_shape_text(own->operation, array, wanted));
    if (may_leave_out(array) && *said_by < 0) {
        *said_by = a;
        own->leaves_out_first = left_out == 1;
    }
    int differs = may_leave_out(array) && own->leaves_out_first != (left_out == 1) ? *said_by : -1;
    for (int d = 0; d < array->num_dims && differs < 0; d++) {
        const int s = array->dims[d];
        const size_t extra = array_length(array, d, (size_t[MAX_SIZES]){0});
        size_t value = d < left_out ? 1 : npy->dims[d - left_out];
        if (value < extra)
            return usage_error("%s: it is empty; its shape is %s", own->paths[a],
                               array_shape_text(own->operation, array, wanted));
        value -= extra;
        if (known[s] < 0) {
            known[s] = a;
            own->sizes[s] = value;
        } else if (own->sizes[s] != value) {
            differs = known[s];
        }
    }
    if (differs < 0)
        return 0;
    return usage_error("%s holds %s, %s %s; give arrays of one shape", own->paths[differs],
                       npy_shape(&own->read[differs], mine), own->paths[a], npy_shape(npy, other));
}

/* Whether the array's values fit into the type in which it is kept. Returns 0, or 2 after one line. */
static int check_range(const struct own_arrays *own, int a)
{
    const enum dtype dtype = array_dtype(&own->operation->arrays[a], own->dtype);
    const float *values = own->read[a].values;
    const size_t count = npy_count(&own->read[a]);
    for (size_t i = 0; i < count && dtype == INT32; i++)
        if (!(fabsf(values[i]) <= 0x1p24f) || values[i] != truncf(values[i]))
            return usage_error("%s: element %zu (%g) is no whole number of up to 2^24; give such numbers",
                               own->paths[a], i, (double)values[i]);
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && (double)fabsf(values[i]) >= dtype_overflow(dtype))
            return usage_error("%s: element %zu (%g) is too large for %s; scale the array", own->paths[a], i,
                               (double)values[i], dtype_name(dtype));
    return 0;
}

int own_arrays_read(struct own_arrays *own, const struct operation *operation, const struct options *options)
{
    int known[MAX_SIZES], said_by = -1;
    memset(own, 0, sizeof *own);
    memset(known, -1, sizeof known);
    own->operation = operation;
    own->direction = own_arrays_direction(operation, options);
    own->dtype = options->dtype;
    own->chosen = options->flags;
    for (int a = 0; a < operation->num_arrays; a++) {
        own->paths[a] = options->files[a];
        own->with[a] = options->files[a] != NULL;
        own->chosen |= own->with[a] && operation->arrays[a].optional ? choice_of_array(a) : 0;
    }
    int status = check_set(operation, options, own->direction, own->chosen);
    if (status == 0)
        status = check_written(own);
    for (int a = 0; a < operation->num_arrays && status == 0; a++) {
        if (!own->with[a] || is_written(own, a))
            continue;
        status = npy_read(own->paths[a], &own->read[a]);
        if (status == 0)
            status = take_shape(own, a, known, &said_by);
        if (status == 0)
            status = check_range(own, a);
    }
    if (status != 0)
        own_arrays_free(own);
    return status;
}

/* ---- the run ---- */

/* The shape of a file that is written: as those that were read. */
static struct npy shape_of(const struct own_arrays *own, int a)
{
    const struct array *array = &own->operation->arrays[a];
    struct npy npy = {.num_dims = 0};
    for (int d = own->leaves_out_first && may_leave_out(array) ? 1 : 0; d < array->num_dims; d++)
        npy.dims[npy.num_dims++] = array_length(array, d, own->sizes);
    return npy;
}

/* Copies what was read to the device, in the type in which the array is kept there. */
static cudaError_t copy_read(const struct own_arrays *own, const struct problem *problem, int a)
{
    const enum dtype dtype = array_dtype(&own->operation->arrays[a], own->dtype);
    const size_t count = npy_count(&own->read[a]);
    void *stored = malloc(count * dtype_bytes(dtype) + 1);
    if (stored == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++)
        dtype_set(dtype, stored, i, own->read[a].values[i]);
    const cudaError_t error =
        cudaMemcpy(problem->arrays[a], stored, count * dtype_bytes(dtype), cudaMemcpyHostToDevice);
    free(stored);
    return error;
}

/* Writes all files beside their places before any appears. */
static int write_files(const struct own_arrays *own, const struct problem *results)
{
    struct output outputs[MAX_ARRAYS] = {{NULL, NULL, NULL}};
    int status = 0;
    for (int a = 0; a < own->operation->num_arrays && status == 0; a++) {
        const struct npy shape = shape_of(own, a);
        if (!is_written(own, a))
            continue;
        status = output_open(&outputs[a], own->paths[a]);
        if (status == 0)
            npy_write(&outputs[a], &shape, array_dtype(&own->operation->arrays[a], own->dtype), results->arrays[a]);
    }
    for (int a = 0; a < own->operation->num_arrays && status == 0; a++)
        if (is_written(own, a))
            status = output_flush(&outputs[a]);
    for (int a = 0; a < own->operation->num_arrays && status == 0; a++)
        if (is_written(own, a))
            status = output_commit(&outputs[a]);
    for (int a = 0; a < own->operation->num_arrays; a++)
        output_discard(&outputs[a]);
    return status;
}

int own_arrays_run(struct own_arrays *own, const struct kernel *kernel, const struct launch_config *config,
                   enum backend backend)
{
    const struct operation *operation = own->operation;
    struct arrays arrays;
    struct problem results = {.operation = operation};
    char given[LAUNCH_CONFIG_TEXT];
    int status = 1;

    cudaError_t error = arrays_create(&arrays, operation, own->sizes, own->direction, own->dtype, backend);
    if (error != cudaSuccess)
        return usage_error("the arrays do not fit into the device's memory: %s", cudaGetErrorString(error));
    arrays_choose(&arrays, own->chosen);
    arrays.problem.config = *config;
    for (int a = 0; a < operation->num_arrays && error == cudaSuccess; a++)
        if (own->read[a].values != NULL)
            error = copy_read(own, &arrays.problem, a);
    if (error == cudaSuccess)
        error = arrays_launch(&arrays, kernel);
    if (error == cudaSuccess && !host_copy(&results, &arrays.problem, 0, own->sizes[0]))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        status = write_files(own, &results);
    else if (launch_config_refused(config, error))
        status = usage_error("%s does not run with %s here, " LAUNCH_CONFIG_CAUSE, kernel->name,
                             launch_config_text(config, ',', given) + 1);
    else
        fprintf(stderr, "FAILED %s: %s\n", kernel->name, cudaGetErrorString(error));
    host_free(&results);
    arrays_free(&arrays);
    return status;
}

void own_arrays_free(struct own_arrays *own)
{
    for (int a = 0; a < MAX_ARRAYS; a++)
        npy_free(&own->read[a]);
}
