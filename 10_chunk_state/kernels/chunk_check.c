/* SPDX-License-Identifier: MIT */
/* chunk_check.c - the checks that all launchers begin with. */
#include <limits.h>
#include <stdint.h>

#include "chunk_check.h"

struct flat_state flat_state_of(const struct chunk_state_args *args)
{
    struct flat_state flat = {.batch = args->batch,
                              .chunks = args->chunks,
                              .columns = args->heads * args->dk * args->dv,
                              .decays = args->heads * args->decays};
    flat.per_decay = flat.decays != 0 ? flat.columns / flat.decays : 0;
    return flat;
}

/* Whether a product of sizes is at most `most`. */
static bool fits(const size_t *sizes, int count, size_t most)
{
    for (int i = 0; i < count; i++) {
        if (sizes[i] != 0 && most / sizes[i] == 0)
            return false;
        most = sizes[i] != 0 ? most / sizes[i] : most;
    }
    return true;
}

static bool is_base(const void *pointer, bool needed)
{
    return pointer == NULL ? !needed : (uintptr_t)pointer % 16 == 0;
}

/* Whether packed sequences are the chunks of one batch, numbered by int. */
static bool starts_fit(const struct chunk_state_args *args)
{
    if (args->starts == NULL)
        return args->num_seqs == 0;
    return args->batch == 1 && args->chunks <= INT_MAX && args->num_seqs < INT_MAX &&
           (args->num_seqs != 0 || args->chunks == 0) && args->dk <= CHUNK_STATE_MAX_ROWS &&
           (uintptr_t)args->starts % sizeof(int) == 0;
}

bool chunk_state_is_empty(const struct chunk_state_args *args)
{
    return chunk_state_num_seqs(args) == 0 || args->heads == 0 || args->dk == 0 || args->dv == 0;
}

bool chunk_state_sizes_fit(const struct chunk_state_args *args, size_t max_rank)
{
    const size_t widest = args->rank > args->dv ? args->rank : args->dv;
    const size_t sizes[] = {args->batch, args->chunks, args->heads, args->dk, widest};
    const size_t states[] = {chunk_state_num_seqs(args), args->heads, args->dk, args->dv};
    if (!starts_fit(args))
        return false;
    return chunk_state_is_empty(args) ||
           (fits(sizes, 5, PTRDIFF_MAX / sizeof(float)) && fits(states, 4, PTRDIFF_MAX / sizeof(float)) &&
            (args->starts == NULL || max_rank != 0) && (args->decays == 1 || args->decays == args->dk) &&
            args->rank <= max_rank && (args->rank == 0 || args->dk <= CHUNK_STATE_MAX_ROWS) &&
            (unsigned)args->dtype < NUM_DTYPES);
}

cudaError_t chunk_state_check(const struct chunk_state_args *args, bool backward, size_t max_rank)
{
    const bool chunks = args->chunks != 0, ranks = chunks && args->rank != 0;
    if (!chunk_state_sizes_fit(args, max_rank))
        return cudaErrorInvalidValue;
    if (chunk_state_is_empty(args))
        return cudaSuccess;
    if (!is_base(args->gamma, chunks) || !is_base(args->W, ranks) || !is_base(args->Y, ranks) ||
        !is_base(args->initial_state, false))
        return cudaErrorInvalidValue;
    if (!backward)
        return is_base(args->h_local, chunks) && is_base(args->h_out, chunks) && is_base(args->final_state, false)
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    return is_base(args->h_local, chunks && args->states == NULL) && is_base(args->states, false) &&
                   is_base(args->d_h_out, chunks) && is_base(args->d_final_state, false) &&
                   is_base(args->d_h_local, chunks) && is_base(args->d_gamma, chunks) && is_base(args->d_W, ranks) &&
                   is_base(args->d_Y, ranks) && is_base(args->d_initial_state, false)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/* Sums over no columns: d_gamma, d_W and d_Y are 0. */
static cudaError_t clear_sums(const struct chunk_state_args *args, cudaStream_t stream)
{
    const size_t rows = args->batch * args->chunks * args->heads, ranks = rows * args->dk * args->rank;
    void *const sums[] = {args->d_gamma, args->d_W, args->d_Y};
    const size_t bytes[] = {rows * args->decays * sizeof(float), ranks * dtype_bytes(args->dtype),
                            ranks * dtype_bytes(args->dtype)};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        if (sums[i] != NULL && bytes[i] != 0)
            error = cudaMemsetAsync(sums[i], 0, bytes[i], stream);
    return error;
}

cudaError_t chunk_state_begin(const struct chunk_state_args *args, bool backward, size_t max_rank, cudaStream_t stream,
                              bool *done)
{
    const bool empty = chunk_state_is_empty(args);
    const cudaError_t error = chunk_state_check(args, backward, max_rank);
    const float *const from = backward ? args->d_final_state : args->initial_state;
    float *const to = backward ? args->d_initial_state : args->final_state;
    *done = error != cudaSuccess || empty || args->chunks == 0;
    if (error == cudaSuccess && empty && backward)
        return clear_sums(args, stream);
    if (error != cudaSuccess || empty || args->chunks != 0 || to == NULL)
        return error;
    const size_t bytes =
        chunk_state_num_seqs(args) * args->heads * args->dk * args->dv * sizeof(float); /* no chunk changes it */
    return from != NULL ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
                        : cudaMemsetAsync(to, 0, bytes, stream);
}
