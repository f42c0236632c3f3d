/* SPDX-License-Identifier: MIT */
/* apart.c - rows that lie apart, on chapter 13's kernels: each array is a slice of a wider one, as models cut them out
   of one product; bases are aligned to an element and no more. All that lies between rows must stay as it was. Prints a
   line for each case; the exit status is 1 if one is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernels/kernels.h"

enum { BATCH = 2, SEQ_LEN = 21, NUM_ARRAYS = 6, GUARD = 0x5A };

/* An array with gaps: `first` elements before it, `step` from step to step, `batch` from batch to batch. */
struct slice {
    size_t first, step, batch, count;
    unsigned char *host, *device;
};

static enum dtype dtype;
static size_t channels;
static int failed;

static void need(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("a call failed: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static struct slice slice_create(size_t first, size_t more)
{
    struct slice slice = {.first = first, .step = channels + more};
    slice.batch = SEQ_LEN * slice.step + more;
    slice.count = first + BATCH * slice.batch;
    slice.host = malloc(slice.count * 4);
    memset(slice.host, GUARD, slice.count * 4);
    need(cudaMalloc((void **)&slice.device, slice.count * dtype_bytes(dtype)));
    return slice;
}

static size_t at(const struct slice *slice, size_t b, size_t t, size_t channel)
{
    return slice->first + b * slice->batch + t * slice->step + channel;
}

static float value(const struct slice *slice, size_t b, size_t t, size_t channel)
{
    return dtype_get(dtype, slice->host, at(slice, b, t, channel));
}

static void copy(const struct slice *slice, bool to_device)
{
    const size_t bytes = slice->count * dtype_bytes(dtype);
    need(to_device ? cudaMemcpy(slice->device, slice->host, bytes, cudaMemcpyHostToDevice)
                   : cudaMemcpy(slice->host, slice->device, bytes, cudaMemcpyDeviceToHost));
}

static struct layout_strides strides(const struct slice *slice)
{
    return (struct layout_strides){slice->batch, slice->step};
}

static void *base(const struct slice *slice)
{
    return slice->device + slice->first * dtype_bytes(dtype);
}

/* Whether only the elements themselves were written. */
static bool gaps_are_kept(const struct slice *slice)
{
    const size_t bytes = dtype_bytes(dtype);
    unsigned char *inside = calloc(slice->count, 1);
    bool kept = true;
    for (size_t b = 0; b < BATCH; b++)
        for (size_t t = 0; t < SEQ_LEN; t++)
            memset(inside + at(slice, b, t, 0), 1, channels);
    for (size_t i = 0; i < slice->count * bytes; i++)
        kept = kept && (inside[i / bytes] || slice->host[i] == GUARD);
    free(inside);
    return kept;
}

static double worst(double was, double is, double expected)
{
    return fmax(was, fabs(is - expected) / (1.0 + fabs(expected)));
}

/* Both passes of one pair of launchers, with strides, against a loop on the host. The arrays differ in where they begin
   and in what lies between rows; `unit` elements divide all of it. Of a row of the table that takes whole units only,
   anything else must be refused, before memory is touched. */
static void check(const char *name, layout_launcher *forward, layout_launcher *backward,
                  const struct layout_kernel *row, size_t first, size_t more, bool reverse)
{
    const size_t unit = first % 8 == 0 && more % 8 == 0 && channels % 8 == 0 ? 8 : 1;
    const cudaError_t expected = row->channels_of > unit ? cudaErrorNotSupported : cudaSuccess;
    struct slice arrays[NUM_ARRAYS];
    for (int a = 0; a < NUM_ARRAYS; a++) {
        arrays[a] = slice_create(first + unit * ((size_t)a % 2), more + unit * ((size_t)a % 3));
        for (size_t b = 0; b < BATCH; b++)
            for (size_t t = 0; t < SEQ_LEN; t++)
                for (size_t channel = 0; channel < channels; channel++) {
                    const size_t hash = (b * 131 + t * 31 + channel * 7 + (size_t)a * 17) % 97;
                    dtype_set(dtype, arrays[a].host, at(&arrays[a], b, t, channel), (float)hash / 97.0f);
                }
        copy(&arrays[a], true);
    }
    struct layout_args args = {.batch = BATCH,
                               .seq_len = SEQ_LEN,
                               .channels = channels,
                               .dtype = dtype,
                               .reverse = reverse,
                               .inputs = base(&arrays[0]),
                               .coeffs = base(&arrays[1]),
                               .outputs = base(&arrays[2]),
                               .d_outputs = base(&arrays[3]),
                               .d_inputs = base(&arrays[4]),
                               .d_coeffs = base(&arrays[5]),
                               .inputs_by = strides(&arrays[0]),
                               .coeffs_by = strides(&arrays[1]),
                               .outputs_by = strides(&arrays[2]),
                               .d_outputs_by = strides(&arrays[3]),
                               .d_inputs_by = strides(&arrays[4]),
                               .d_coeffs_by = strides(&arrays[5])};
    double error = 0.0;
    bool kept = true, refused = false;
    for (int pass = 0; pass < 2; pass++) {
        if ((pass == 0 ? forward : backward) == NULL)
            continue;
        args.workspace_size = row->workspace_size != NULL ? row->workspace_size(&args, pass == 1) : 0;
        need(cudaMalloc(&args.workspace, args.workspace_size + 1));
        need(cudaMemset(args.workspace, 0xFF, args.workspace_size + 1));
        const cudaError_t launched = (pass == 0 ? forward : backward)(&args, NULL);
        if (launched != expected)
            need(launched);
        refused = launched == cudaErrorNotSupported;
        need(cudaDeviceSynchronize());
        need(cudaFree(args.workspace));
        for (int a = 0; a < NUM_ARRAYS; a++)
            copy(&arrays[a], false);
        for (size_t b = 0; b < BATCH; b++)
            for (size_t channel = 0; channel < channels; channel++) {
                double y = 0.0, e = 0.0;
                for (size_t i = 0; i < SEQ_LEN && pass == 0 && !refused; i++) {
                    const size_t t = reverse ? SEQ_LEN - 1 - i : i;
                    y = y * value(&arrays[1], b, t, channel) + value(&arrays[0], b, t, channel);
                    error = worst(error, value(&arrays[2], b, t, channel), y);
                }
                for (size_t i = 0; i < SEQ_LEN && pass == 1 && !refused; i++) {
                    const size_t t = reverse ? i : SEQ_LEN - 1 - i;
                    const double d = value(&arrays[3], b, t, channel) + e;
                    const double before =
                        i + 1 == SEQ_LEN ? 0.0 : value(&arrays[2], b, reverse ? t + 1 : t - 1, channel);
                    error = worst(error, value(&arrays[4], b, t, channel), d);
                    error = worst(error, value(&arrays[5], b, t, channel), d * before);
                    e = d * value(&arrays[1], b, t, channel);
                }
            }
        for (int a = 0; a < NUM_ARRAYS; a++)
            kept = kept && gaps_are_kept(&arrays[a]);
    }
    const double bound = dtype == FLOAT32 ? 1e-5 : dtype == BF16 ? 0x1p-7 : 0x1p-10;
    const bool right = error <= bound && kept && refused == (expected != cudaSuccess);
    printf("%-10s %-7s %zu channels, %zu before, %zu between%s: %s\n", name, dtype_name(dtype), channels, first, more,
           reverse ? ", reversed" : "",
           right  ? refused ? "refused" : "right"
           : kept ? "WRONG"
                  : "WROTE BETWEEN ROWS");
    failed += !right;
    for (int a = 0; a < NUM_ARRAYS; a++) {
        free(arrays[a].host);
        need(cudaFree(arrays[a].device));
    }
}

/* One step in place, of rows that lie apart: outputs, and states where they were. */
static void check_step(size_t first, size_t more)
{
    enum { ROWS = 3, SLOTS = 4 };
    static const int slots[ROWS] = {2, -1, 0};
    const size_t by = channels + more, count = first + ROWS * by, states = first + SLOTS * channels;
    float *host = malloc(count * 4), *was = malloc(states * 4), *is = malloc(states * 4), *out = malloc(count * 4);
    unsigned char *x, *c, *y;
    float *h;
    int *where;
    need(cudaMalloc((void **)&x, count * 4));
    need(cudaMalloc((void **)&c, count * 4));
    need(cudaMalloc((void **)&y, count * 4));
    need(cudaMalloc((void **)&h, states * 4));
    need(cudaMalloc((void **)&where, sizeof slots));
    for (size_t i = 0; i < count; i++)
        dtype_set(dtype, host, i, (float)(i % 13) / 16.0f);
    for (size_t i = 0; i < states; i++)
        was[i] = (float)(i % 7);
    need(cudaMemcpy(x, host, count * dtype_bytes(dtype), cudaMemcpyHostToDevice));
    need(cudaMemcpy(c, host, count * dtype_bytes(dtype), cudaMemcpyHostToDevice));
    need(cudaMemset(y, GUARD, count * 4));
    need(cudaMemcpy(h, was, states * 4, cudaMemcpyHostToDevice));
    need(cudaMemcpy(where, slots, sizeof slots, cudaMemcpyHostToDevice));
    const size_t skip = first * dtype_bytes(dtype);
    const struct step_args args = {ROWS,     channels, SLOTS, where, dtype, false,     x + skip,
                                   c + skip, y + skip, by,    by,    by,    h + first, h + first};
    need(layout_step(&args, NULL));
    need(cudaMemcpy(is, h, states * 4, cudaMemcpyDeviceToHost));
    need(cudaMemcpy(out, y, count * dtype_bytes(dtype), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int row = 0; row < ROWS; row++)
        for (size_t channel = 0; channel < channels && slots[row] >= 0; channel++) {
            const size_t at_row = first + (size_t)row * by + channel;
            const size_t state = first + (size_t)slots[row] * channels + channel;
            const float v = dtype_get(dtype, host, at_row), expected = was[state] * v + v;
            float rounded;
            dtype_set(dtype, &rounded, 0, expected);
            right = right && fabsf(is[state] - expected) <= 1e-6f * fabsf(expected) &&
                    fabsf(dtype_get(dtype, out, at_row) - expected) <= 0x1p-7f * fabsf(expected);
            was[state] = is[state];
        }
    right = right && memcmp(was, is, states * 4) == 0; /* all other states are as they were */
    for (size_t i = 0; i < count * dtype_bytes(dtype); i++) {
        const size_t element = i / dtype_bytes(dtype), row = (element - first) / by;
        const bool inside = element >= first && (element - first) % by < channels && slots[row] >= 0;
        right = right && (inside || ((unsigned char *)out)[i] == GUARD);
    }
    printf("%-10s %-7s %zu channels, %zu before, %zu between: %s\n", "step", dtype_name(dtype), channels, first, more,
           right ? "right" : "WRONG");
    failed += !right;
    need(cudaFree(x)), need(cudaFree(c)), need(cudaFree(y)), need(cudaFree(h)), need(cudaFree(where));
    free(host), free(was), free(is), free(out);
}

int main(void)
{
    static const size_t shapes[][3] = {
        {8, 0, 8}, {16, 8, 16}, {8, 1, 3}, {5, 3, 2}, {2, 2, 4}}; /* channels, before, between */
    for (dtype = FLOAT32; dtype < NUM_DTYPES; dtype++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            channels = shapes[i][0];
            for (const struct layout_kernel *row = chapter13_kernels; row->info.name != NULL; row++)
                if (dtype == FLOAT32 || !row->info.float32_only)
                    check(row->info.name, row->forward, row->backward, row, shapes[i][1], shapes[i][2], i % 2 == 1);
            check_step(shapes[i][1], shapes[i][2]);
        }
    return failed != 0;
}
