/* SPDX-License-Identifier: MIT */
/* chunk_check.h - the checks that all launchers of chapter 10 begin with (chunk_check.c). */
#ifndef CHUNK_STATE_CHECK_H
#define CHUNK_STATE_CHECK_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* With a diagonal A no element of a state needs another one. So a batch's chunk is one row of `columns` elements, in
   which `per_decay` neighbours share a decay. */
struct flat_state {
    size_t batch, chunks;
    size_t columns;   /* heads * dk * dv */
    size_t decays;    /* heads * decays */
    size_t per_decay; /* columns / decays */
};
struct flat_state flat_state_of(const struct chunk_state_args *args);

/* Whether there is no batch, or packed sequence, no head, row or column. */
bool chunk_state_is_empty(const struct chunk_state_args *args);

/* Checks the arguments: sizes whose bytes overflow, rank, decays and type, and packed sequences, which kernels without
   a rank do not take; and beside them missing pointers and bases. Where nothing is there, only what is packed can be
   wrong. */
bool chunk_state_sizes_fit(const struct chunk_state_args *args, size_t max_rank);
cudaError_t chunk_state_check(const struct chunk_state_args *args, bool backward, size_t max_rank);

/* What every launcher begins with. Checks the arguments. Where there is nothing to compute it does what is left to do.
   *done: the launcher returns what this returns. */
cudaError_t chunk_state_begin(const struct chunk_state_args *args, bool backward, size_t max_rank, cudaStream_t stream,
                              bool *done);

#ifdef __cplusplus
}
#endif
#endif
