/* SPDX-License-Identifier: MIT */
/* layer_kernels.c - the table of chapter 14's kernels of the layer. */
#include "layer_kernels.h"

#include "../../common/harness/harness.h"

const struct layer_kernel chapter14_layer_kernels[] = {
    {.info.name = "loop",
     .info.idea = "step after step, the state in registers of a warp",
     .forward = layer_loop,
     .backward = layer_loop_backward,
     .backward_workspace_size = layer_loop_backward_workspace,
     .chunk = 1},
    {.info.name = "chunk",
     .info.idea = "chunks of 64 steps as products of matrices, on the tensor cores",
     .forward = layer_chunk,
     .backward = layer_chunk_backward,
     .backward_workspace_size = layer_chunk_backward_workspace,
     .chunk = 64,
     .max_dk = 128,
     .dk_of = 8,
     .dv_of = 8,
     .info.bits16_only = true,
     .info.min_arch = 80},
    {.info.name = "stretches",
     .info.idea = "the same with time cut into stretches, whose states are joined",
     .forward = layer_stretches,
     .workspace_size = layer_cut_workspace,
     .info.tunable = {.rows = {1, 2, 8, 32}},
     .chunk = 64,
     .max_dk = 128,
     .dk_of = 8,
     .dv_of = 8,
     .info.bits16_only = true,
     .info.min_arch = 80},
    {.info.name = "default",
     .info.idea = "chunk or stretches where they can, else loop",
     .forward = layer_default,
     .backward = layer_default_backward,
     .backward_workspace_size = layer_default_backward_workspace,
     .workspace_size = layer_default_workspace,
     .chunk = 64,
     .info.is_default = true},
    {.info.name = NULL},
};

const struct chapter chapter14_layer = {
    .name = "14_chunk_product",
    .operation = &layer_operation,
    .kernels = chapter14_layer_kernels,
};
