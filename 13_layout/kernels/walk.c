/* SPDX-License-Identifier: MIT */
/* walk.c - see walk.h */
#include "walk.h"

#include <limits.h>
#include <stdint.h>

struct layout_rows layout_rows_of(const struct layout_args *args, bool backward)
{
    if (!backward)
        return (struct layout_rows){
            {args->inputs, args->coeffs, args->outputs}, {args->inputs_by, args->coeffs_by, args->outputs_by}, 3};
    return (struct layout_rows){
        {args->d_outputs, args->coeffs, args->outputs, args->d_inputs, args->d_coeffs},
        {args->d_outputs_by, args->coeffs_by, args->outputs_by, args->d_inputs_by, args->d_coeffs_by},
        5};
}

struct layout_strides strides_of(const struct layout_args *args, struct layout_strides by)
{
    by.step = by.step != 0 ? by.step : args->channels;
    by.batch = by.batch != 0 ? by.batch : args->seq_len * by.step;
    return by;
}

/* Whether a * b is at most `most`. */
static bool fits(size_t a, size_t b, size_t most)
{
    return b == 0 || a <= most / b;
}

static bool is_array(const struct layout_args *args, const void *base, struct layout_strides by)
{
    const size_t most = (size_t)PTRDIFF_MAX / 4, last_step = args->seq_len - 1, last_batch = args->batch - 1;
    if (base == NULL || (uintptr_t)base % dtype_bytes(args->dtype) != 0)
        return false;
    if (!fits(args->seq_len, by.step != 0 ? by.step : args->channels, most))
        return false;
    by = strides_of(args, by);
    if (by.step < args->channels && last_step != 0)
        return false;
    return fits(args->batch, by.batch, most) && last_batch * by.batch <= most - last_step * by.step - args->channels;
}

static bool is_state(const float *state)
{
    return (uintptr_t)state % sizeof(float) == 0;
}

bool layout_sizes_fit(const struct layout_args *args)
{
    const size_t most = INT_MAX, most_floats = (size_t)PTRDIFF_MAX / 4;
    if ((unsigned)args->dtype >= NUM_DTYPES || args->batch > most || args->channels > most ||
        !fits(args->batch, args->channels, most_floats) ||
        !fits(args->seq_len, args->batch * args->channels, most_floats))
        return false;
    return args->starts == NULL || (args->batch == 1 && args->seq_len <= most && args->num_seqs <= most &&
                                    fits(args->num_seqs, args->channels, most_floats));
}

cudaError_t layout_check(const struct layout_args *args, bool backward)
{
    if (!layout_sizes_fit(args) || (uintptr_t)args->starts % sizeof(int) != 0)
        return cudaErrorInvalidValue;
    if (!is_state(args->initial_state) || !is_state(args->final_state) || !is_state(args->d_final_state) ||
        !is_state(args->d_initial_state))
        return cudaErrorInvalidValue;
    if (args->batch == 0 || args->seq_len == 0 || args->channels == 0)
        return cudaSuccess;
    const struct layout_rows rows = layout_rows_of(args, backward);
    for (int i = 0; i < rows.count; i++)
        if (!is_array(args, rows.base[i], rows.by[i]))
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t layout_begin(const struct layout_args *args, bool backward, cudaStream_t stream, bool *done)
{
    const size_t num_seqs = args->starts != NULL ? args->num_seqs : args->batch;
    const float *const from = backward ? args->d_final_state : args->initial_state;
    float *const to = backward ? args->d_initial_state : args->final_state;
    *done = true;
    if (args->batch == 0 || args->channels == 0)
        return cudaSuccess;
    const cudaError_t error = layout_check(args, backward);
    if (error != cudaSuccess)
        return error;
    *done = args->seq_len == 0 || num_seqs == 0;
    if (!*done || to == NULL || num_seqs == 0)
        return cudaSuccess;
    const size_t bytes = num_seqs * args->channels * sizeof(float); /* no step changes it */
    return from != NULL ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
                        : cudaMemsetAsync(to, 0, bytes, stream);
}

struct walk walk_of(const struct layout_args *args, bool backward)
{
    return (struct walk){
        .seq_len = (long long)args->seq_len,
        .channels = (long long)args->channels,
        .num_seqs = (long long)(args->starts != NULL ? args->num_seqs : args->batch),
        .starts = args->starts,
        .from_last = args->reverse != backward,
        .log_coeffs = args->log_coeffs,
    };
}

struct walked walked_of(const struct walk *walk, const struct layout_args *args, const void *array,
                        struct layout_strides by)
{
    by = strides_of(args, by);
    const long long batch = (long long)(by.batch * dtype_bytes(args->dtype));
    const long long step = (long long)(by.step * dtype_bytes(args->dtype));
    return (struct walked){(char *)array + (walk->from_last ? (long long)(args->seq_len - 1) * step : 0), batch,
                           walk->from_last ? -step : step};
}

int layout_width(const struct layout_args *args, bool backward, int most)
{
    const struct layout_rows rows = layout_rows_of(args, backward);
    size_t bits = args->channels * dtype_bytes(args->dtype); /* the lowest one that is set is the alignment */
    for (int i = 0; i < rows.count; i++) {
        const struct layout_strides by = strides_of(args, rows.by[i]);
        bits |= (uintptr_t)rows.base[i] | (by.batch | by.step) * dtype_bytes(args->dtype);
    }
    int width = most;
    while (width > 1 && bits % ((size_t)width * dtype_bytes(args->dtype)) != 0)
        width /= 2;
    return width;
}
