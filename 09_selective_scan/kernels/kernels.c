/* SPDX-License-Identifier: MIT */
/* kernels.c - the tables of chapter 09's kernels. */
#include "kernels.h"

#include "../../common/harness/harness.h"

const struct selective_kernel chapter09_kernels[] = {
    {.info.name = "fused_scan",
     .info.idea = "a block for each channel, one state after the other, chapter 04's scan over time",
     .forward = selective_fused_scan_forward},
    {.info.name = "steps",
     .info.idea = "a thread for each channel, a loop through time, its states in registers",
     .forward = selective_steps_forward,
     .packed = true,
     .backward = selective_steps_backward,
     .workspace_size = selective_steps_workspace},
    {.info.name = "fused_steps",
     .info.idea = "four states a lane, chunks of time through shared memory",
     .forward = selective_fused_steps_forward,
     .packed = true,
     .max_states = FUSED_STEPS_STATES},
    {.info.name = "warp_specialized",
     .info.idea = "fused_steps for few channels: consumer warps for the states, producer warps for the rest",
     .forward = selective_warp_specialized_forward,
     .max_states = WARP_SPECIALIZED_STATES,
     .info.min_arch = 90}, /* with 32 states it needs more shared memory than older chips have */
    {.info.name = "state_passing",
     .info.idea = "fused_steps for few channels: the warps of a block pass the state from chunk to chunk",
     .forward = selective_state_passing_forward,
     .backward = selective_state_passing_backward,
     .workspace_size = selective_state_passing_workspace,
     .max_states = STATE_PASSING_STATES,
     .info.min_arch = 80}, /* backward it needs more shared memory than older chips have */
    {.info.name = "fused_backward",
     .info.idea = "the gradients without passing: a warp goes through all of time, or a segment",
     .backward = selective_fused_backward,
     .workspace_size = selective_fused_workspace,
     .max_states = FUSED_STATES,
     .info.min_arch = 80},
    {.info.name = "checkpoints",
     .info.idea = "fused_backward with little memory: window by window, from checkpoints",
     .backward = selective_checkpoints_backward,
     .workspace_size = selective_checkpoints_workspace,
     .info.min_arch = 80},
    {.info.name = "default",
     .info.idea = "one of these, by shape and chip",
     .forward = selective_forward,
     .packed = true,
     .backward = selective_backward,
     .workspace_size = selective_default_workspace,
     .info.is_default = true},
    {.info.name = NULL},
};

const struct selective_step_kernel chapter09_step_kernels[] = {
    {.info.name = "step",
     .info.idea = "four states a lane, four rows, in place",
     .info.is_default = true,
     .step = selective_step},
    {.info.name = NULL},
};

const struct chapter chapter09 = {
    .name = "09_selective_scan",
    .operation = &selective_operation,
    .kernels = chapter09_kernels,
};

const struct chapter chapter09_step = {
    .name = "09_selective_scan",
    .operation = &selective_step_operation,
    .kernels = chapter09_step_kernels,
};
