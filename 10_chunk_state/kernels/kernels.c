/* SPDX-License-Identifier: MIT */
/* kernels.c - the tables of chapter 10's kernels. */
#include "kernels.h"

#include "../../common/harness/harness.h"
#include "low_rank_plan.h"
#include "tma_plan.h"

#define TMA_LIMITS(threads)                                                                                            \
    .info.min_arch = 90, .columns_of = TMA_COLUMNS_OF,                                                                 \
    .info.tunable = {.max_threads = (threads), .max_stages = TMA_MAX_STAGES}

const struct chunk_state_kernel chapter10_kernels[] = {
    {.info.name = "launches",
     .info.idea = "one launch for each chunk",
     .forward = chunk_state_launches,
     .info.float32_only = true},
    {.info.name = "registers",
     .info.idea = "the state stays in a register",
     .forward = chunk_state_registers,
     .backward = chunk_state_registers_backward,
     .workspace_size = chunk_state_registers_workspace},
    {.info.name = "prefetch",
     .info.idea = "four columns a thread, the next chunks on their way",
     .forward = chunk_state_prefetch,
     .info.float32_only = true,
     .columns_of = 4,
     .info.tunable = {.rows = {2, 4, 8, 16}, .max_threads = 256}},
    {.info.name = "tma",
     .info.idea = "TMA bulk copies bring the next chunks",
     .forward = chunk_state_tma,
     .backward = chunk_state_tma_backward,
     .workspace_size = chunk_state_tma_workspace,
     TMA_LIMITS(TMA_MAX_THREADS)},
    {.info.name = "split",
     .info.idea = "few heads: chunks spread over blocks",
     .forward = chunk_state_split,
     .backward = chunk_state_split_backward,
     .workspace_size = chunk_state_tma_workspace,
     .joins = true,
     TMA_LIMITS(TMA_SPLIT_MAX_THREADS)},
    {.info.name = "low_rank",
     .info.idea = "W and Y: columns by themselves, sums over rows by shuffles",
     .forward = chunk_state_low_rank,
     .backward = chunk_state_low_rank_backward,
     .workspace_size = chunk_state_low_rank_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .max_rows = CHUNK_STATE_MAX_ROWS,
     .rounds_states = true,
     .info.tunable = {.max_stages = LOW_RANK_MAX_STAGES}},
    {.info.name = "plain",
     .info.idea = "W and Y: read where they are used, for chips with little shared memory",
     .forward = chunk_state_plain,
     .backward = chunk_state_plain_backward,
     .workspace_size = chunk_state_low_rank_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .max_rows = CHUNK_STATE_MAX_ROWS,
     .rounds_states = true},
    {.info.name = "mma",
     .info.idea = "W and Y: products on the tensor cores",
     .forward = chunk_state_mma,
     .backward = chunk_state_mma_backward,
     .workspace_size = chunk_state_mma_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .max_rows = MMA_MAX_ROWS,
     .rounds_states = true,
     .info.min_arch = 80,
     .info.tunable = {.max_stages = LOW_RANK_MAX_STAGES},
     .tensor_cores = chunk_state_mma_tensor_cores},
    {.info.name = "default",
     .info.idea = "one of these, by shape and chip",
     .forward = chunk_state_forward,
     .backward = chunk_state_backward,
     .workspace_size = chunk_state_default_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .joins = true,
     .info.is_default = true,
     .tensor_cores = chunk_state_default_tensor_cores},
    {.info.name = NULL},
};

const struct chunk_step_kernel chapter10_step_kernels[] = {
    {.info.name = "step",
     .info.idea = "a warp has 16 columns with all their rows in registers, in place",
     .info.is_default = true,
     .step = chunk_state_step},
    {.info.name = NULL},
};

const struct chapter chapter10 = {
    .name = "10_chunk_state",
    .operation = &chunk_state_operation,
    .kernels = chapter10_kernels,
};

const struct chapter chapter10_step = {
    .name = "10_chunk_state",
    .operation = &chunk_step_operation,
    .kernels = chapter10_step_kernels,
};
