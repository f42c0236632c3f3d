/* SPDX-License-Identifier: MIT */
/* launch.h - what all launchers begin with (launch.c). */
#ifndef CHUNK_STATE_LAUNCH_H
#define CHUNK_STATE_LAUNCH_H

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

/* What every launcher begins with. Checks the arguments: sizes whose bytes overflow, missing pointers, bases, rank and
   decays. Where there is nothing to compute it does what is left to do. *done: the launcher returns what this
   returns. */
cudaError_t chunk_state_begin(const struct chunk_state_args *args, bool backward, size_t max_rank, cudaStream_t stream,
                              bool *done);

#ifdef __cplusplus
}
#endif
#endif
