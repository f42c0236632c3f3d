/* SPDX-License-Identifier: MIT */
/* layer_kernels.h - chapter 14's launchers of the layer, in the order of the text, and the operation. */
#ifndef LAYER_KERNELS_H
#define LAYER_KERNELS_H

#include "layer_cut.h"

#ifdef __cplusplus
extern "C" {
#endif

layer_launcher layer_loop;      /* step after step, the state in registers */
layer_launcher layer_chunk;     /* chunks of 64 steps as products, of bf16 or fp16; cudaErrorNotSupported below sm_80 */
layer_launcher layer_stretches; /* the same, time cut into stretches whose states are joined */
layer_launcher layer_wgmma;     /* both by wgmma, two heads a block; cudaErrorNotSupported but on sm_90 */
layer_launcher layer_default;   /* the default: one of these */

/* What all steps do to the states that come in: a factor for each head's, (batch, heads), or of packed sequences
   (num_seqs, heads). Reads dt, dt_bias and A alone. */
cudaError_t layer_transition(const struct layer_args *args, float *transition, cudaStream_t stream);

/* Bytes of workspace that the default needs; `starts` are not looked at. */
size_t layer_default_workspace(const struct layer_args *args);

/* layer_chunk's kernel for stretches of sequences, each from the state that cut.states has of the one before
   (layer_cut.h). Of arguments that layer_begin took. */
cudaError_t layer_outputs(const struct layer_args *args, struct layer_cut cut, cudaStream_t stream);

/* The state behind each stretch, in cut.states, where there is what each adds to a state of 0 (layer_stretches.cu). */
cudaError_t layer_join(const struct layer_args *args, struct layer_cut cut, cudaStream_t stream);

/* Whether layer_wgmma takes these sizes, on a chip that has it. */
bool layer_wgmma_takes(const struct layer_args *args);

layer_backward_launcher layer_loop_backward;    /* step after step, and back; states computed twice */
layer_backward_launcher layer_chunk_backward;   /* chunks of 64 steps as products; as layer_chunk */
layer_backward_launcher layer_default_backward; /* the default: one of these */

/* Bytes of workspace that these need. */
size_t layer_loop_backward_workspace(const struct layer_args *args);
size_t layer_chunk_backward_workspace(const struct layer_args *args);
size_t layer_default_backward_workspace(const struct layer_args *args);

/* Bytes of shared memory that a block of chunk has backward: a chip may have less. */
size_t layer_chunk_backward_shared(const struct layer_args *args);

/* The table, the operation (layer_operation.c), and the chapter with it. */
extern const struct layer_kernel chapter14_layer_kernels[];
extern const struct operation layer_operation;
extern const struct chapter chapter14_layer;

/* The same operation of packed sequences. */
const struct operation *layer_packed_operation(void);

#ifdef __cplusplus
}
#endif
#endif
