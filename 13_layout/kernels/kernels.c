/* SPDX-License-Identifier: MIT */
/* kernels.c - the tables of chapter 13's kernels. */
#include "kernels.h"

#include "../../common/harness/harness.h"
#include "chunk_plan.h"

const struct layout_kernel chapter13_kernels[] = {
    {.info.name = "transposed",
     .info.idea = "transpose, chapter 08's default, transpose",
     .forward = layout_transposed,
     .plain = true,
     .info.float32_only = true,
     .workspace_size = layout_transposed_workspace},
    {.info.name = "loop",
     .info.idea = "a thread walks through time, the next steps in registers",
     .forward = layout_loop,
     .backward = layout_loop_backward},
    {.info.name = "split",
     .info.idea = "time in chunks over blocks, in registers, joined by look-back",
     .forward = layout_split,
     .backward = layout_split_backward,
     .workspace_size = layout_split_workspace,
     .info.tunable = {.max_threads = SPLIT_MAX_THREADS}},
    {.info.name = "tensor_map",
     .info.idea = "the same, in shared memory, moved by the TMA as boxes",
     .forward = layout_tensor_map,
     .backward = layout_tensor_map_backward,
     .channels_of = 8,
     .workspace_size = layout_tensor_map_workspace,
     .info.min_arch = 90},
    {.info.name = "default",
     .info.idea = "tensor_map where it can; else split, or loop",
     .forward = layout_forward,
     .backward = layout_backward,
     .workspace_size = layout_workspace,
     .info.is_default = true},
    {.info.name = NULL},
};

const struct step_kernel chapter13_step_kernels[] = {
    {.info.name = "launches", .info.idea = "a launch for each layer"},
    {.info.name = "graph", .info.idea = "the same launches as one graph", .info.is_default = true, .as_graph = true},
    {.info.name = NULL},
};

const struct chapter chapter13 = {
    .name = "13_layout",
    .operation = &layout_operation,
    .kernels = chapter13_kernels,
};

const struct chapter chapter13_packed = {
    .name = "13_layout",
    .operation = &packed_operation,
    .kernels = chapter13_kernels,
};

const struct chapter chapter13_step = {
    .name = "13_layout",
    .operation = &step_operation,
    .kernels = chapter13_step_kernels,
};
