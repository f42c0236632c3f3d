/* SPDX-License-Identifier: MIT */
/* selective_check.c - the checks that all launchers begin with, and the work left where there is nothing to compute. */
#include "selective_check.h"

#include <stdint.h>

bool selective_is_empty(const struct selective_args *args)
{
    return args->batch == 0 || args->channels == 0 || args->seq_len == 0;
}

/* Whether these sizes multiplied are bytes that can be counted, for elements of 16 bytes. */
static bool is_countable(size_t a, size_t b, size_t c, size_t d)
{
    const size_t sizes[] = {a, b, c, d};
    size_t left = PTRDIFF_MAX / 16;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] != 0 && left / sizes[i] == 0)
            return false;
        left /= sizes[i] != 0 ? sizes[i] : 1;
    }
    return true;
}

bool selective_sizes_fit(const struct selective_args *args)
{
    if ((unsigned)args->dtype >= NUM_DTYPES || args->states < 1 || args->states > SELECTIVE_MAX_STATES)
        return false;
    if (args->channels != 0 && (args->groups == 0 || args->channels % args->groups != 0))
        return false;
    if (args->starts == NULL
            ? args->num_seqs != 0
            : args->batch != 1 || (args->num_seqs == 0 && args->seq_len != 0) || args->num_seqs >= PTRDIFF_MAX / 16)
        return false;
    return is_countable(args->num_seqs, args->channels, args->states, 1) &&
           is_countable(args->batch, args->channels, args->seq_len, 1) &&
           is_countable(args->batch, args->channels, args->states, 1) &&
           is_countable(args->batch, args->groups, args->states, args->seq_len);
}

/* Whether a pointer is aligned, and there if it must be. */
static bool is_fit(const void *pointer, bool needed)
{
    return pointer != NULL ? (uintptr_t)pointer % 16 == 0 : !needed;
}

cudaError_t selective_check_args(const struct selective_args *args, bool backward, size_t workspace)
{
    return args->starts != NULL ? cudaErrorInvalidValue : selective_check_packed(args, backward, workspace);
}

cudaError_t selective_check_packed(const struct selective_args *args, bool backward, size_t workspace)
{
    const void *const read[] = {args->u, args->delta, args->A, args->B, args->C};
    const void *const optional[] = {args->D, args->z, args->delta_bias, args->initial_state};
    const void *const d_needed[] = {args->d_out, args->d_u, args->d_delta, args->d_A, args->d_B, args->d_C};
    const void *const d_optional[] = {args->d_final_state, args->d_D, args->d_z, args->d_delta_bias,
                                      args->d_initial_state};
    bool fit = selective_sizes_fit(args);
    if (!fit || (uintptr_t)args->starts % sizeof(int) != 0)
        return cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return cudaSuccess;
    for (int i = 0; i < 5; i++)
        fit = fit && is_fit(read[i], true);
    for (int i = 0; i < 4; i++)
        fit = fit && is_fit(optional[i], false);
    for (int i = 0; i < 6 && backward; i++)
        fit = fit && is_fit(d_needed[i], true);
    for (int i = 0; i < 5 && backward; i++)
        fit = fit && is_fit(d_optional[i], false);
    if (backward) /* there is no gradient of what is not there */
        fit = fit && (args->d_z == NULL) == (args->z == NULL) && (args->d_D == NULL || args->D != NULL) &&
              (args->d_delta_bias == NULL || args->delta_bias != NULL);
    else
        fit = fit && is_fit(args->out, true) && is_fit(args->final_state, false);
    if (workspace != 0)
        fit = fit && is_fit(args->workspace, true) && args->workspace_size >= workspace;
    return fit ? cudaSuccess : cudaErrorInvalidValue;
}

/* Queues a copy of `count` floats, or zeros if there is nothing to copy from. */
static cudaError_t put(float *to, const float *from, size_t count, cudaStream_t stream)
{
    if (to == NULL || count == 0)
        return cudaSuccess;
    return from != NULL ? cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream)
                        : cudaMemsetAsync(to, 0, count * sizeof *to, stream);
}

cudaError_t selective_finish_empty(const struct selective_args *args, bool backward, cudaStream_t stream)
{
    const size_t sequences = args->starts != NULL ? args->num_seqs : args->batch;
    const size_t all_states = sequences * args->channels * args->states;
    if (!backward)
        return put(args->final_state, args->initial_state, all_states, stream);

    const size_t group_rows = args->batch * args->groups * args->states * args->seq_len;
    float *const sums[] = {args->d_A, args->d_D, args->d_delta_bias};
    const size_t counts[] = {args->channels * args->states, args->channels, args->channels};
    void *const dtype_sums[] = {args->d_B, args->d_C};
    cudaError_t error = put(args->d_initial_state, args->d_final_state, all_states, stream);
    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        error = put(sums[i], NULL, counts[i], stream);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        if (dtype_sums[i] != NULL && group_rows != 0)
            error = cudaMemsetAsync(dtype_sums[i], 0, group_rows * dtype_bytes(args->dtype), stream);
    return error;
}
