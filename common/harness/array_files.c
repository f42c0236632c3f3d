/* SPDX-License-Identifier: MIT */
/* array_files.c - see array_files.h */
#include "array_files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/npy.h"

static const char patterns[] = "zeros, ones, ramp (0 1 2 ...), alternate (1 -1 1 -1 ...), or numbers as in 3,1,4.5";

/* Fills the array with a pattern that has a name, and that starts again in every row. Returns false for other text. */
static bool fill_pattern(const char *name, const struct npy *array)
{
    const bool ones = strcmp(name, "ones") == 0, ramp = strcmp(name, "ramp") == 0;
    const bool alternate = strcmp(name, "alternate") == 0;
    const size_t count = npy_count(array), length = array->num_dims != 0 ? array->dims[array->num_dims - 1] : 1;
    if (!ones && !ramp && !alternate && strcmp(name, "zeros") != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t l = i % length;
        array->values[i] = ones ? 1.0f : ramp ? (float)l : !alternate ? 0.0f : l % 2 == 0 ? 1.0f : -1.0f;
    }
    return true;
}

/* "3,1,4.5": the array's first elements; the last number also fills all behind it. Returns 0, or 2 after one line. */
static int fill_numbers(const char *text, const struct npy *array)
{
    const size_t count = npy_count(array);
    char shape[NPY_SHAPE_TEXT];
    size_t filled = 0;
    float value = 0.0f;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        value = strtof(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            return usage_error("--fill: \"%s\" is no pattern; give %s", text, patterns);
        if (errno == ERANGE && isinf(value))
            return usage_error("--fill: a number in \"%s\" is too large for float32; give smaller ones", text);
        if (filled == count)
            return usage_error("--fill: more numbers than the %zu elements of %s; give fewer", count,
                               npy_shape(array, shape));
        array->values[filled++] = value;
        if (*end == '\0')
            break;
        at = end;
    }
    while (filled < count)
        array->values[filled++] = value;
    return 0;
}

/* The shape of an array from the sizes that were given; without the first size it has one dimension less. Returns 0, or
   2 after one line. */
static int shape_of(const struct operation *operation, const struct array *array, const struct options *options,
                    struct npy *npy)
{
    const size_t most = (size_t)1 << 28; /* 1 GB: these arrays are for trying things out */
    char option[OPTION_TEXT];
    npy->num_dims = 0;
    for (int d = 0; d < array->num_dims; d++) {
        const int s = array->dims[d];
        const struct size *size = &operation->sizes[s];
        if (!options->size_given[s] && s == 0)
            continue;
        if (!options->size_given[s] || (size->is_list && options->num_list != 1))
            return usage_error("--fill needs one %s; give it with --%s", size->noun, option_of(size->name, option));
        npy->dims[npy->num_dims++] = array_length(array, d, options->sizes);
    }
    if (npy->num_dims == 0)
        npy->dims[npy->num_dims++] = 1;
    size_t sizes[MAX_SIZES];
    memcpy(sizes, options->sizes, sizeof sizes);
    if (!options->size_given[0])
        sizes[0] = 1;
    if (array_count(array, sizes) > most)
        return usage_error("--fill writes up to %zu elements; choose a smaller shape", most);
    return 0;
}

/* Shape and values of one array. Returns 0, or 2 after one line. */
static int make_array(const struct operation *operation, int a, const struct options *options, struct npy *npy)
{
    const int status = shape_of(operation, &operation->arrays[a], options, npy);
    if (status != 0)
        return status;
    npy->values = malloc(npy_count(npy) * sizeof(float) + 1);
    if (npy->values == NULL)
        return usage_error("--fill: not enough memory for %zu elements", npy_count(npy));
    return fill_pattern(options->fill, npy) ? 0 : fill_numbers(options->fill, npy);
}

static int write_array(const char *path, const struct npy *npy)
{
    struct output output;
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    npy_write(&output, npy, FLOAT32, npy->values);
    return output_commit(&output);
}

int array_files_fill(const struct operation *operation, const struct options *options)
{
    struct npy arrays[MAX_ARRAYS] = {{.values = NULL}};
    char option[OPTION_TEXT];
    int status = 0;

    if (!options->any_file)
        return usage_error("--fill writes the files that --%s and so on name; name one",
                           option_of(operation->arrays[0].name, option));
    for (int a = 0; a < operation->num_arrays && status == 0; a++)
        if (options->files[a] != NULL)
            status = make_array(operation, a, options, &arrays[a]);
    for (int a = 0; a < operation->num_arrays && status == 0; a++)
        if (options->files[a] != NULL)
            status = output_probe(options->files[a]);
    for (int a = 0; a < operation->num_arrays && status == 0; a++)
        if (options->files[a] != NULL)
            status = write_array(options->files[a], &arrays[a]);
    for (int a = 0; a < operation->num_arrays; a++)
        npy_free(&arrays[a]);
    return status;
}

int array_files_print(const char *path)
{
    struct npy array;
    const int status = npy_read(path, &array);
    if (status != 0)
        return status;
    const size_t count = npy_count(&array), length = array.dims[array.num_dims - 1];
    for (size_t i = 0; i < count; i++) {
        const float value = isnan(array.values[i]) ? NAN : array.values[i]; /* a NaN's sign says nothing */
        printf("%g%s", value, i % length == length - 1 ? "\n" : " ");
    }
    npy_free(&array);
    return 0;
}
