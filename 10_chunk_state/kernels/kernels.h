/* SPDX-License-Identifier: MIT */
/* kernels.h - chapter 10: its kernels' launchers, in the order of the text, and the chunk states as an operation of the
   harness. */
#ifndef CHUNK_STATE_KERNELS_H
#define CHUNK_STATE_KERNELS_H

#include "../../common/cuda/gpu_info.h"
#include "../operation/arguments.h"
#include "../operation/chunk_step.h"

#ifdef __cplusplus
extern "C" {
#endif

chunk_state_launcher chunk_state_launches;                                  /* one launch for each chunk */
chunk_state_launcher chunk_state_registers, chunk_state_registers_backward; /* the state stays in a register */
chunk_state_launcher chunk_state_prefetch; /* four columns a thread, the next chunks on their way */
chunk_state_launcher chunk_state_tma, chunk_state_tma_backward;     /* TMA brings them (sm_90) */
chunk_state_launcher chunk_state_split, chunk_state_split_backward; /* a head's chunks spread over blocks (sm_90) */
chunk_state_launcher chunk_state_low_rank, chunk_state_low_rank_backward;
chunk_state_launcher chunk_state_plain, chunk_state_plain_backward; /* the same with little shared memory */
chunk_state_launcher chunk_state_mma, chunk_state_mma_backward;     /* products on the tensor cores (sm_80) */
chunk_state_launcher chunk_state_wgmma;                             /* what mma launches in bf16 on sm_90 */

/* Whether mma does, on that GPU; NULL: on the current one. */
bool chunk_state_is_for_wgmma(const struct chunk_state_args *args, const struct gpu_info *gpu);

/* Whether mma computes these on tensor cores there, and launches nothing else. */
bool chunk_state_mma_fits(const struct chunk_state_args *args, const struct gpu_info *gpu, bool backward);

/* What the chunks do to a state that comes in, in float32: a factor for each decay, (batch, heads, decays); with W and
   Y a matrix, (batch, heads, dk, dk), which plain computes, of arguments that are right. Of packed sequences num_seqs
   stands in place of batch. Reads gamma, W and Y alone; dv does not count. */
cudaError_t chunk_state_transition(const struct chunk_state_args *args, float *transition, cudaStream_t stream);
cudaError_t chunk_state_plain_transition(const struct chunk_state_args *args, float *transition, cudaStream_t stream);

/* One of these, by shape and chip. */
chunk_state_launcher chunk_state_forward, chunk_state_backward;

chunk_step_launcher chunk_state_step; /* one position, in place */

/* Which one: what default launches for these arguments on that GPU. It asks no device and launches nothing. */
enum chunk_state_choice { CHOICE_REGISTERS, CHOICE_PREFETCH, CHOICE_TMA, CHOICE_SPLIT, CHOICE_LOW_RANK, CHOICE_MMA };
enum chunk_state_choice chunk_state_choose(const struct chunk_state_args *args, const struct gpu_info *gpu,
                                           bool backward);

/* Whether mma, or default, computes these on tensor cores. */
bool chunk_state_mma_tensor_cores(const struct chunk_state_args *args, bool backward);
bool chunk_state_default_tensor_cores(const struct chunk_state_args *args, bool backward);

/* Bytes of workspace. */
size_t chunk_state_registers_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_tma_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_low_rank_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_mma_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward);

/* The tables, the operation (operation.c), and the chapter with it and with the step. */
extern const struct chunk_state_kernel chapter10_kernels[];
extern const struct chunk_step_kernel chapter10_step_kernels[];
extern const struct operation chunk_state_operation;
const struct operation *chunk_state_packed_operation(void); /* packed sequences, which have one array more */
extern const struct chapter chapter10, chapter10_step;

#ifdef __cplusplus
}
#endif
#endif
