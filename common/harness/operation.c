/* SPDX-License-Identifier: MIT */
/* operation.c - see operation.h */
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines.h"

const char *direction_name(enum direction direction)
{
    static const char *const names[NUM_DIRECTIONS] = {"forward", "reverse", "backward", "backward_reverse"};
    return names[direction];
}

const char *pass_name(const struct operation *operation, enum direction direction)
{
    return operation->pass != NULL ? operation->pass : direction_name(direction);
}

enum role array_role(const struct array *array, enum direction direction)
{
    return is_backward(direction) ? array->backward : array->forward;
}

size_t array_length(const struct array *array, int d, const size_t sizes[MAX_SIZES])
{
    return sizes[array->dims[d]] + (d == array->num_dims - 1 ? (size_t)array->extra : 0);
}

size_t array_count(const struct array *array, const size_t sizes[MAX_SIZES])
{
    const size_t too_many = SIZE_MAX / 8;
    size_t count = 1;
    for (int d = 0; d < array->num_dims; d++)
        if (array_length(array, d, sizes) == 0)
            return 0;
    for (int d = 0; d < array->num_dims; d++) {
        if (count > too_many / array_length(array, d, sizes))
            return too_many;
        count *= array_length(array, d, sizes);
    }
    return count;
}

static bool array_has_size(const struct array *array, int size)
{
    for (int d = 0; d < array->num_dims; d++)
        if (array->dims[d] == size)
            return true;
    return false;
}

void operation_pack(struct operation *packed, const struct operation *operation, int along)
{
    *packed = *operation;
    for (int a = 0; a < packed->num_arrays; a++) {
        struct array *const array = &packed->arrays[a];
        if (array->dims[0] == 0 && array_has_size(array, along))
            memmove(array->dims, array->dims + 1, (size_t)--array->num_dims * sizeof *array->dims);
    }
    packed->arrays[packed->num_arrays++] =
        (struct array){"starts", "STARTS", READ, READ, .integers = true, .extra = 1, .num_dims = 1, .dims = {0}};
}

const char *array_shape_text(const struct operation *operation, const struct array *array, char text[SHAPE_TEXT])
{
    int used = sprintf(text, "(");
    for (int d = 0; d < array->num_dims; d++)
        used += sprintf(text + used, "%s%s", d == 0 ? "" : ", ", operation->sizes[array->dims[d]].name);
    if (array->extra != 0)
        used += sprintf(text + used, " + %d", array->extra);
    sprintf(text + used, ")");
    return text;
}

enum dtype array_dtype(const struct array *array, enum dtype dtype)
{
    return array->integers ? INT32 : array->stored ? dtype : FLOAT32;
}

size_t array_element_bytes(const struct array *array, enum dtype dtype)
{
    return dtype_bytes(array_dtype(array, dtype));
}

bool operation_has_dtype(const struct operation *operation)
{
    for (int a = 0; a < operation->num_arrays; a++)
        if (operation->arrays[a].stored)
            return true;
    return false;
}

static enum dtype dtype_of(const struct problem *problem, int a)
{
    return array_dtype(&problem->operation->arrays[a], problem->dtype);
}

float array_get(const struct problem *problem, int a, size_t index)
{
    return dtype_get(dtype_of(problem, a), problem->arrays[a], index);
}

void array_set(const struct problem *problem, int a, size_t index, float value)
{
    dtype_set(dtype_of(problem, a), problem->arrays[a], index, value);
}

void array_check(const struct problem *problem, int a, size_t index, double expected, double bound,
                 struct finding *finding)
{
    finding_add_stored(finding, a, index, dtype_of(problem, a), problem->arrays[a], expected, bound);
}

bool array_is_read(const struct problem *problem, int a)
{
    return problem->arrays[a] != NULL && array_role(&problem->operation->arrays[a], problem->direction) == READ;
}

bool array_is_independent(const struct array *array)
{
    return array->num_dims != 0 && array->dims[0] == 0;
}

size_t problem_count(const struct problem *problem)
{
    const struct operation *operation = problem->operation;
    size_t most = 0;
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        const bool left_out = (array->optional || array->goes_with != NULL) && problem->arrays[a] == NULL;
        const size_t count = array_count(array, problem->sizes);
        if (array_role(array, problem->direction) != UNTOUCHED && !left_out && count > most)
            most = count;
    }
    return most;
}

double problem_bytes(const struct problem *problem)
{
    const struct operation *operation = problem->operation;
    double bytes = 0.0;
    if (operation->bytes != NULL)
        return operation->bytes(problem);
    for (int a = 0; a < operation->num_arrays; a++)
        if (problem->arrays[a] != NULL)
            bytes += (double)array_count(&operation->arrays[a], problem->sizes) *
                     (double)array_element_bytes(&operation->arrays[a], problem->dtype);
    return bytes;
}

const char *sizes_text(const struct operation *operation, const size_t sizes[MAX_SIZES], char text[SIZES_TEXT])
{
    int used = 0;
    for (int s = 0; s < operation->num_sizes; s++)
        used += sprintf(text + used, "%s%zu", s == 0 ? "" : " x ", sizes[s]);
    return text;
}

const char *option_of(const char *name, char text[OPTION_TEXT])
{
    snprintf(text, OPTION_TEXT, "%s", name);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '_')
            *at = '-';
    return text;
}

void shapes_add(struct shapes *shapes, const size_t sizes[MAX_SIZES])
{
    for (int i = 0; i < shapes->count; i++)
        if (memcmp(shapes->sizes[i], sizes, sizeof shapes->sizes[i]) == 0)
            return;
    void *larger = realloc(shapes->sizes, ((size_t)shapes->count + 1) * sizeof *shapes->sizes);
    if (larger == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    shapes->sizes = larger;
    memcpy(shapes->sizes[shapes->count++], sizes, sizeof *shapes->sizes);
}

const char *baseline_name(const struct baseline *baseline)
{
    static const char *const names[] = {"", "copy", "add", "add5"};
    return names[baseline->what];
}

cudaError_t baseline_launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct baseline *baseline = which;
    const size_t count = array_count(&problem->operation->arrays[baseline->arrays[0]], problem->sizes);
    const enum dtype dtype = dtype_of(problem, baseline->arrays[0]);
    void *a[5];
    for (int i = 0; i < 5; i++)
        a[i] = problem->arrays[baseline->arrays[i]];
    switch (baseline->what) {
    case COPY:
        return device_copy(count * dtype_bytes(dtype), a[0], a[1], stream);
    case ADD:
        return device_add(dtype, count, a[0], a[1], a[2], stream);
    case ADD5:
        return device_add5(dtype, count, a[0], a[1], a[2], a[3], a[4], stream);
    default:
        return cudaErrorInvalidValue;
    }
}

int baseline_num_arrays(const struct baseline *baseline)
{
    static const int num_arrays[] = {[COPY] = 2, [ADD] = 3, [ADD5] = 5};
    return num_arrays[baseline->what];
}

double baseline_bytes(const struct baseline *baseline, const struct problem *problem)
{
    const struct array *array = &problem->operation->arrays[baseline->arrays[0]];
    return baseline_num_arrays(baseline) * (double)array_count(array, problem->sizes) *
           (double)array_element_bytes(array, problem->dtype);
}
