/* SPDX-License-Identifier: MIT */
/* mma_back.h - the gradient of the state, by the kernels of mma.cu and wgmma.cu. It is their recurrence, from the last
   chunk to the first, with W and Y in each other's place:

       d_h[k-1] = gamma[k] d_h[k] - Y[k] (W[k]' d_h[k]) + d_h_out[k-1]        exclusive: + d_h_out[k]

   What is written for chunk k is the state before its step, d_h_local[k] = d_h[k]. */
#ifndef MMA_BACK_H
#define MMA_BACK_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether mma.cu has registers for it: of 16 bits it also keeps where d_h in float32 goes. wgmma.cu always has. */
static inline bool mma_back_fits(const struct chunk_state_args *args)
{
    return args->dtype == FLOAT32 || args->dk <= 64 || args->rank <= 32;
}

/* args, as for forward: h_local is d_h_out, W and Y are exchanged, initial_state is d_final_state, h_out is d_h_local,
   final_state is d_initial_state, and exclusive says it of the operation. in_float32: where d_h of 16 bits goes without
   being rounded, in tiles of BLOCK_COLUMNS columns and 64 or 128 rows, (batch, chunks, heads, slices, rows, columns);
   NULL in float32. The arguments have been checked. */
cudaError_t mma_back(const struct chunk_state_args *args, float *in_float32, cudaStream_t stream);
cudaError_t wgmma_back(const struct chunk_state_args *args, float *in_float32, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
