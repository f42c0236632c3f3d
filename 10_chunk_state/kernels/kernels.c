/* kernels.c - the table of chapter 10's kernels. */
#include "kernels.h"

#include "../operation/chunk_operation.h"

#define PIECES                                                                                                         \
    .min_arch = 90, .columns_of = PIECES_COLUMNS_OF,                                                                   \
    .knobs = {.max_threads = PIECES_MAX_THREADS, .max_stages = PIECES_MAX_STAGES}

const struct chunk_state_kernel chapter10_kernels[] = {
    {.name = "copy",
     .idea = "h_local to h_out, nothing else",
     .forward = chunk_state_copy,
     .partial = true,
     .max_rank = CHUNK_STATE_MAX_RANK},
    {.name = "launches", .idea = "one launch for each chunk", .forward = chunk_state_launches, .float32_only = true},
    {.name = "reread",
     .idea = "one launch; the state comes from memory in each step",
     .forward = chunk_state_reread,
     .float32_only = true},
    {.name = "registers",
     .idea = "the state stays in a register",
     .forward = chunk_state_registers,
     .backward = chunk_state_registers_backward,
     .workspace_size = chunk_state_registers_workspace},
    {.name = "prefetch",
     .idea = "four columns a thread, the next chunks on their way",
     .forward = chunk_state_prefetch,
     .knobs = {.rows = {2, 4, 8, 16}, .max_threads = 256}},
    {.name = "tma",
     .idea = "TMA bulk copies bring the next chunks",
     .forward = chunk_state_tma,
     .backward = chunk_state_tma_backward,
     .workspace_size = chunk_state_tma_workspace,
     PIECES},
    {.name = "split", .idea = "few heads: chunks spread over blocks", .forward = chunk_state_split, PIECES},
    {.name = "low_rank",
     .idea = "W and Y: columns by themselves, sums over rows by shuffles",
     .forward = chunk_state_low_rank,
     .backward = chunk_state_low_rank_backward,
     .workspace_size = chunk_state_low_rank_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .knobs = {.max_stages = LOW_RANK_MAX_STAGES}},
    {.name = "mma",
     .idea = "W and Y: products on the tensor cores",
     .forward = chunk_state_mma,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .max_rows = MMA_MAX_ROWS,
     .min_arch = 80,
     .knobs = {.max_stages = LOW_RANK_MAX_STAGES},
     .tensor_cores = chunk_state_mma_tensor_cores},
    {.name = "default",
     .idea = "one of these, by shape and chip",
     .forward = chunk_state_forward,
     .backward = chunk_state_backward,
     .workspace_size = chunk_state_default_workspace,
     .max_rank = CHUNK_STATE_MAX_RANK,
     .is_default = true,
     .tensor_cores = chunk_state_default_tensor_cores},
    {.name = NULL},
};

const struct chapter chapter10 = {
    .name = "10_chunk_state",
    .operation = &chunk_state_operation,
    .kernels = chapter10_kernels,
};
