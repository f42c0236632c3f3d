/* SPDX-License-Identifier: MIT */
/* kernels.h - chapter 13: its kernels' launchers, in the order of the text, and its operations. */
#ifndef LAYOUT_KERNELS_H
#define LAYOUT_KERNELS_H

#include "../operation/arguments.h"
#include "../operation/step_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

layout_launcher layout_transposed;                   /* transpose, chapter 08's default, transpose */
layout_launcher layout_loop, layout_loop_backward;   /* a thread walks through time */
layout_launcher layout_split, layout_split_backward; /* time is cut into chunks over blocks */

/* Its steps in shared memory, moved by the TMA. cudaErrorNotSupported below sm_90, or where 16 bytes do not divide all
   bases, strides and rows. */
layout_launcher layout_tensor_map, layout_tensor_map_backward;

layout_launcher layout_forward, layout_backward; /* the default: one of these */

step_launcher layout_step; /* one step of a layer */

/* A step of all layers, one after the other: queued on a stream, or written down as a graph, which is then launched as
   often as there are steps, as long as the arrays stay where they are. */
cudaError_t layout_step_layers(const struct step_args *layers, size_t num_layers, cudaStream_t stream);
cudaError_t layout_step_graph(const struct step_args *layers, size_t num_layers, cudaGraphExec_t *exec);

/* Bytes of workspace. */
size_t layout_transposed_workspace(const struct layout_args *args, bool backward);
size_t layout_split_workspace(const struct layout_args *args, bool backward);
size_t layout_tensor_map_workspace(const struct layout_args *args, bool backward);
size_t layout_workspace(const struct layout_args *args, bool backward); /* the default's */

/* The tables, the operations (operation.c, step_operation.c), and the chapter with each of them. */
extern const struct layout_kernel chapter13_kernels[];
extern const struct step_kernel chapter13_step_kernels[];
extern const struct operation layout_operation, packed_operation, step_operation;
extern const struct chapter chapter13, chapter13_packed, chapter13_step;

#ifdef __cplusplus
}
#endif
#endif
