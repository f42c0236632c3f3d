/* array_files.c - see array_files.h */
#include "array_files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "npy.h"

static const char patterns[] = "zeros, ones, ramp (0 1 2 ...), alternate (1 -1 1 -1 ...), or numbers as in 3,1,4.5";

/* A pattern with a name starts again in every sequence. Returns false for other text. */
static bool fill_pattern(const char *name, const struct npy *array)
{
    const bool ones = strcmp(name, "ones") == 0, ramp = strcmp(name, "ramp") == 0;
    const bool alternate = strcmp(name, "alternate") == 0;
    if (!ones && !ramp && !alternate && strcmp(name, "zeros") != 0)
        return false;
    for (size_t i = 0; i < array->num_seqs * array->seq_len; i++) {
        const size_t l = i % array->seq_len;
        array->values[i] = ones ? 1.0f : ramp ? (float)l : !alternate ? 0.0f : l % 2 == 0 ? 1.0f : -1.0f;
    }
    return true;
}

/* "3,1,4.5": the array's first elements; the last number also fills all behind it. Returns 0, or 2 after one line. */
static int fill_numbers(const char *text, const struct npy *array)
{
    const size_t count = array->num_seqs * array->seq_len;
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
            return usage_error("--fill: more numbers than the %zu elements of %zu x %zu; give fewer", count,
                               array->num_seqs, array->seq_len);
        array->values[filled++] = value;
        if (*end == '\0')
            break;
        at = end;
    }
    while (filled < count)
        array->values[filled++] = value;
    return 0;
}

int array_files_fill(const struct options *options)
{
    const char *paths[] = {options->inputs,    options->coeffs,   options->outputs,
                           options->d_outputs, options->d_inputs, options->d_coeffs};
    const size_t most = (size_t)1 << 28; /* 1 GB: these arrays are for trying things out */
    struct npy array = {.num_dims = options->num_seqs_given ? 2 : 1,
                        .num_seqs = options->num_seqs_given ? options->num_seqs : 1,
                        .seq_len = options->seq_lens[0]};
    int status = 0;

    if (!options->arrays)
        return usage_error("--fill writes the files that --inputs, --coeffs and so on name; name one");
    if (options->num_seq_lens != 1)
        return usage_error("--fill needs one length; give it with --seq-len");
    if (array.seq_len != 0 && array.num_seqs > most / array.seq_len)
        return usage_error("--fill writes up to %zu elements; choose a smaller shape", most);
    array.values = malloc(array.num_seqs * array.seq_len * sizeof(float) + 1);
    if (array.values == NULL)
        return usage_error("--fill: not enough memory for %zu x %zu elements", array.num_seqs, array.seq_len);
    if (!fill_pattern(options->fill, &array))
        status = fill_numbers(options->fill, &array);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == 0; i++)
        if (paths[i] != NULL)
            status = output_probe(paths[i]);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == 0; i++) {
        struct output output;
        if (paths[i] == NULL || (status = output_open(&output, paths[i])) != 0)
            continue;
        npy_write(&output, &array, array.values);
        status = output_commit(&output);
        output_discard(&output);
    }
    npy_free(&array);
    return status;
}

int array_files_print(const char *path)
{
    struct npy array;
    const int status = npy_read(path, &array);
    for (size_t seq = 0; status == 0 && array.seq_len != 0 && seq < array.num_seqs; seq++) {
        const float *values = array.values + seq * array.seq_len;
        for (size_t l = 0; l < array.seq_len; l++) {
            const float value = isnan(values[l]) ? NAN : values[l]; /* a NaN's sign says nothing */
            printf("%s%g", l == 0 ? "" : " ", value);
        }
        printf("\n");
    }
    if (status == 0)
        npy_free(&array);
    return status;
}
