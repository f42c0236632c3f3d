/* SPDX-License-Identifier: MIT */
/* arguments.h - chapter 10: the state that a chunkwise layer hands from chunk to chunk (Yang et al., "Gated Linear
   Attention Transformers with Hardware-Efficient Training", 2024; Dao and Gu, "Transformers are SSMs", 2024; Yang,
   Kautz and Hatamizadeh, "Gated Delta Networks", 2025). For each batch b and head a matrix of dk rows and dv columns,

       h[k] = A[k] h[k-1] + h_local[k],     k = 0 ... chunks-1,     h[-1] = initial_state,     where

       A[k] h = gamma[k] h                                a decay for each row, or one for all
       A[k] h = gamma[k] h - W[k] (Y[k]^T h)              where W and Y are given; they have `rank` columns

   The decay stands outside of the product: W and Y hold what is left of a decay there, and no number is divided by one,
   which may be next to 0, or 0. Of one position of gated DeltaNet or KDA, with key k and strength beta, W = beta k and
   Y = gamma k, row by row.

   h_out[k] is h[k], the state after chunk k, or if `exclusive` h[k-1], the state before it, from which a layer computes
   chunk k. final_state is h[chunks-1]. What is NULL falls away: no W and Y, no rank; no initial_state begins with 0.

   Packed sequences: with `starts`, batch is 1, and the chunks are those of num_seqs sequences, one after the other.
   Sequence s has the chunks starts[s] ... starts[s+1] - 1, which may be none; each begins with a state of its own and
   ends in one. starts[0] is 0, and starts[num_seqs] is chunks. Other numbers lead to other results, but to no access
   outside of the arrays.

   Backward, with d_h[k] the gradient with respect to h[k] and ' for what is transposed:

       d_h[k]       = A[k+1]' d_h[k+1] + d_h_out[k]       exclusive: + d_h_out[k+1], which is h[k]; d_final_state joins
                                                          the last one; before chunk 0 this is d_initial_state
       d_h_local[k] = d_h[k]
       d_gamma[k]   = sum over columns of d_h[k] h[k-1], over the rows, too, if they share one
       d_W[k]       = -d_h[k] (Y[k]^T h[k-1])'
       d_Y[k]       = -h[k-1] (W[k]^T d_h[k])'                                                                       */
#ifndef CHUNK_STATE_ARGUMENTS_H
#define CHUNK_STATE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/harness/kernel_info.h"
#include "../../common/base/dtype.h"
#include "../../common/base/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of every launcher. Arrays are row-major and packed, bases aligned to 16 bytes, and do not overlap.
   void pointers are arrays of the type `dtype`, all others are float32; states are computed in float32. */
struct chunk_state_args {
    size_t batch, chunks, heads, dk, dv;
    size_t rank;   /* up to CHUNK_STATE_MAX_RANK; 0 if W and Y are NULL */
    size_t decays; /* of a head: dk, one for each row, or 1 */
    enum dtype dtype;
    bool exclusive;
    size_t num_seqs;             /* packed sequences; 0 without starts */
    const int *starts;           /* (num_seqs + 1), or NULL: not packed */
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *h_local;        /* (batch, chunks, heads, dk, dv) */
    const float *gamma;         /* (batch, chunks, heads, decays) */
    const void *W, *Y;          /* (batch, chunks, heads, dk, rank), or both NULL */
    const float *initial_state; /* (batch, heads, dk, dv), or NULL; packed: num_seqs in place of batch, as all states */

    void *h_out;        /* as h_local; forward writes */
    float *final_state; /* (batch, heads, dk, dv), or NULL; forward writes */

    /* backward: reads everything that forward reads, and */
    const void *states;         /* as h_local: the states before each chunk, which forward writes if it is
                                   exclusive. NULL: the launcher runs forward for them, and needs workspace */
    const void *d_h_out;        /* as h_local */
    const float *d_final_state; /* (batch, heads, dk, dv), or NULL: 0 */
    /* writes. With states it does not read h_local and initial_state */
    void *d_h_local;        /* as h_local */
    float *d_gamma;         /* as gamma */
    void *d_W, *d_Y;        /* as W; NULL where W is */
    float *d_initial_state; /* (batch, heads, dk, dv), or NULL */

    /* scratch memory, for kernels that ask for it: all its bits are set before the first launch, and every later one
       finds what the one before has left */
    void *workspace;
    size_t workspace_size;
};

/* Launches on `stream` and returns the launch's error, cudaErrorInvalidValue for arguments that it cannot take, or
   cudaErrorNotSupported where the chip lacks what it needs. It allocates nothing and does not wait. Where there is no
   batch, head, row or column, nothing happens, but that sums over no columns are 0; where there is no chunk,
   final_state is the initial state, and d_initial_state is d_final_state. */
typedef cudaError_t chunk_state_launcher(const struct chunk_state_args *args, cudaStream_t stream);

/* How many states there are of each head. */
static inline HOST_DEVICE size_t chunk_state_num_seqs(const struct chunk_state_args *args)
{
    return args->starts != NULL ? args->num_seqs : args->batch;
}

/* A row of the chapter's table. The table ends with a row whose info.name is NULL. */
struct chunk_state_kernel {
    struct kernel_info info;
    chunk_state_launcher *forward, *backward; /* NULL: not offered */
    size_t max_rank;                          /* 0: diagonal A only, and no packed sequences */
    size_t max_rows;                          /* dk; 0: any, or CHUNK_STATE_MAX_ROWS if there is a rank */
    size_t columns_of;                        /* dv is a multiple of it; 0: any */
    bool joins;                               /* without W and Y: it may combine sums of segments, as split does */
    size_t (*workspace_size)(const struct chunk_state_args *args, bool backward); /* bytes; NULL: none */
    bool (*tensor_cores)(const struct chunk_state_args *args, bool backward); /* whether it sums there; NULL: never */
};

enum {
    CHUNK_STATE_MAX_RANK = 64,
    CHUNK_STATE_MAX_ROWS = 256, /* dk, where there is a rank, or sequences are packed */
};

#ifdef __cplusplus
}
#endif
#endif
