/* SPDX-License-Identifier: MIT */
/* layer_check.c - see layer_check.h */
#include "layer_check.h"

#include <limits.h>
#include <stdint.h>

/* Whether these sizes multiplied are bytes that can be counted, for elements of up to 16 bytes. */
static bool is_countable(size_t a, size_t b, size_t c, size_t d)
{
    const size_t sizes[] = {a, b, c, d};
    size_t left = PTRDIFF_MAX / 16;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] > left)
            return false;
        left /= sizes[i] != 0 ? sizes[i] : 1;
    }
    return true;
}

/* Whether a pointer is aligned, and there if it must be. */
static bool is_fit(const void *pointer, bool needed)
{
    return pointer != NULL ? (uintptr_t)pointer % 16 == 0 : !needed;
}

static bool sizes_fit(const struct layer_args *args)
{
    if ((unsigned)args->dtype >= NUM_DTYPES || args->dk < 1 || args->dk > LAYER_MAX_DK)
        return false;
    if (args->heads != 0 && (args->groups == 0 || args->heads % args->groups != 0))
        return false;
    return is_countable(args->batch, args->seq_len, args->heads, args->dv) &&
           is_countable(args->batch, args->seq_len, args->heads, 1) &&
           is_countable(args->batch, args->seq_len, args->groups, args->dk) &&
           is_countable(layer_num_seqs(args), args->heads, args->dv, args->dk);
}

/* Whether packed sequences can be numbered by int, and are steps of one batch. */
static bool starts_fit(const struct layer_args *args)
{
    return args->starts == NULL || (args->batch == 1 && args->seq_len <= INT_MAX && args->num_seqs <= INT_MAX &&
                                    (uintptr_t)args->starts % sizeof(int) == 0);
}

cudaError_t layer_begin(const struct layer_args *args, size_t workspace, cudaStream_t stream, bool *done)
{
    const void *const needed[] = {args->x, args->dt, args->B, args->C, args->A, args->out};
    const void *const optional[] = {args->z, args->D, args->dt_bias, args->initial_state, args->final_state};
    const size_t states = layer_num_seqs(args) * args->heads * args->dv;
    *done = true;
    if (!sizes_fit(args) || !starts_fit(args))
        return cudaErrorInvalidValue;
    if (states == 0)
        return cudaSuccess;
    for (int i = 0; i < 5; i++)
        if (!is_fit(optional[i], false))
            return cudaErrorInvalidValue;
    if (args->seq_len == 0) {
        const size_t bytes = states * args->dk * sizeof(float);
        if (args->final_state == NULL)
            return cudaSuccess;
        return args->initial_state != NULL
                   ? cudaMemcpyAsync(args->final_state, args->initial_state, bytes, cudaMemcpyDeviceToDevice, stream)
                   : cudaMemsetAsync(args->final_state, 0, bytes, stream);
    }
    for (int i = 0; i < 6; i++)
        if (!is_fit(needed[i], true))
            return cudaErrorInvalidValue;
    if (workspace != 0 && (!is_fit(args->workspace, true) || args->workspace_size < workspace))
        return cudaErrorInvalidValue;
    *done = false;
    return cudaSuccess;
}
