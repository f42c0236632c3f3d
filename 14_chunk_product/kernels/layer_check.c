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

/* Whether packed sequences can be numbered by int, and are steps of one batch. */
static bool starts_fit(const struct layer_args *args)
{
    return args->starts == NULL || (args->batch == 1 && args->seq_len <= INT_MAX && args->num_seqs <= INT_MAX &&
                                    (uintptr_t)args->starts % sizeof(int) == 0);
}

bool layer_sizes_fit(const struct layer_args *args)
{
    if ((unsigned)args->dtype >= NUM_DTYPES || args->dk < 1 || args->dk > LAYER_MAX_DK)
        return false;
    if (args->heads != 0 && (args->groups == 0 || args->heads % args->groups != 0))
        return false;
    return is_countable(args->batch, args->seq_len, args->heads, args->dv) &&
           is_countable(args->batch, args->seq_len, args->heads, 1) &&
           is_countable(args->batch, args->seq_len, args->groups, args->dk) &&
           is_countable(layer_num_seqs(args), args->heads, args->dv, args->dk) && starts_fit(args);
}

cudaError_t layer_begin(const struct layer_args *args, size_t workspace, cudaStream_t stream, bool *done)
{
    const void *const needed[] = {args->x, args->dt, args->B, args->C, args->A, args->out};
    const void *const optional[] = {args->z, args->D, args->dt_bias, args->initial_state, args->final_state};
    const size_t states = layer_num_seqs(args) * args->heads * args->dv;
    *done = true;
    if (!layer_sizes_fit(args))
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

/* Sets all gradients to 0, the initial state's to the final one's if there is no step. */
static cudaError_t set_nothing(const struct layer_backward_args *args, cudaStream_t stream)
{
    const struct layer_args *const layer = &args->layer;
    const size_t steps = layer->batch * layer->seq_len, width = dtype_bytes(layer->dtype);
    const size_t states = layer_num_seqs(layer) * layer->heads * layer->dv * layer->dk * sizeof(float);
    const struct {
        void *at;
        size_t bytes;
    } arrays[] = {{args->d_x, steps * layer->heads * layer->dv * width},
                  {args->d_z, steps * layer->heads * layer->dv * width},
                  {args->d_dt, steps * layer->heads * width},
                  {args->d_B, steps * layer->groups * layer->dk * width},
                  {args->d_C, steps * layer->groups * layer->dk * width},
                  {args->d_A, layer->heads * sizeof(float)},
                  {args->d_D, layer->heads * sizeof(float)},
                  {args->d_dt_bias, layer->heads * sizeof(float)},
                  {args->d_initial_state, states}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const bool copied = arrays[i].at == args->d_initial_state && args->d_final_state != NULL;
        cudaError_t error = cudaSuccess;
        if (arrays[i].at != NULL && arrays[i].bytes != 0)
            error = copied ? cudaMemcpyAsync(arrays[i].at, args->d_final_state, arrays[i].bytes,
                                             cudaMemcpyDeviceToDevice, stream)
                           : cudaMemsetAsync(arrays[i].at, 0, arrays[i].bytes, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t layer_backward_begin(const struct layer_backward_args *args,
                                 size_t (*workspace_size)(const struct layer_args *args), cudaStream_t stream,
                                 bool *done)
{
    const struct layer_args *const layer = &args->layer;
    const void *const needed[] = {layer->x,  layer->dt,  layer->B,  layer->C,  layer->A, args->d_out,
                                  args->d_x, args->d_dt, args->d_B, args->d_C, args->d_A};
    const void *const optional[] = {layer->z,  layer->D,  layer->dt_bias,  layer->initial_state, args->d_final_state,
                                    args->d_z, args->d_D, args->d_dt_bias, args->d_initial_state};
    const size_t num_needed = sizeof needed / sizeof *needed, num_optional = sizeof optional / sizeof *optional;
    *done = true;
    if (!layer_sizes_fit(layer))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < num_optional; i++)
        if (!is_fit(optional[i], false))
            return cudaErrorInvalidValue;
    if (layer->batch * layer->seq_len * layer->heads * layer->dv == 0)
        return set_nothing(args, stream);
    for (size_t i = 0; i < num_needed; i++)
        if (!is_fit(needed[i], true))
            return cudaErrorInvalidValue;
    if ((args->d_z != NULL) != (layer->z != NULL) || (args->d_D != NULL && layer->D == NULL) ||
        !is_fit(layer->workspace, true) || layer->workspace_size < workspace_size(layer))
        return cudaErrorInvalidValue;
    *done = false;
    return cudaSuccess;
}
