/* SPDX-License-Identifier: MIT */
/* default.c - the kernel that each shape gets on each chip. Times are of an H200 (recordings/h200,
   *-10_chunk_state.csv); tests/choices.t holds the choices against the newest of them.

   With W and Y:
   - from rank 9 on, in 16 bits from rank 5 on, mma, where the chip has tensor cores for tf32 (sm_80) and shared memory
     for it, for up to MMA_MAX_ROWS rows. Backward the same (mma_back_fits says what of 16 bits is left out), 135 us in
     place of 181 with rank 16 in float32, 307 of 649 with rank 64, in bf16 120 of 180 and 239 of 653;
   - else low_rank, which launches plain where the chip's shared memory does not hold a stage of it.
   Packed sequences, which are not measured, get the same, and low_rank without W and Y.

   Else, where TMA takes the shape (sm_90, dv a multiple of 8):
   - split, if all batches together have no more slices of 2 KB than a quarter of the multiprocessors, which would have
     little to do, and there are 32 chunks; backward half of them, and 64 chunks (single runs with 512 chunks: 8 heads
     in float32 98 us in place of 130, 16 heads in bf16 125 in place of 138; 4 heads in float32: 64 chunks 17.5 in place
     of 21.1, 32 chunks 14.8 and not 13.3);
   - forward in float32 with no more chunks than prefetch has on their way at once: prefetch, 5.7 to 8.3 us in place of
     6.4 to 8.9 with 2 to 8 chunks;
   - else tma.

   Without TMA:
   - forward in float32, where dv is a multiple of 4: prefetch; else registers;
   - backward from 8 chunks on, where three stages of it fit: low_rank, whose shared memory and copying warps serve a
     diagonal A, too (64.0 us in place of 103.3 with 64 chunks), but not in 16 bits without the states, which it would
     round (70 us, registers 121); else registers. */
#include "kernels.h"
#include "low_rank_plan.h"
#include "mma_back.h"
#include "tma_plan.h"

/* The first rank at which mma was faster than low_rank, at the proposal's shape (low_rank.md). */
static size_t mma_min_rank(const struct chunk_state_args *args)
{
    return args->dtype == FLOAT32 ? 9 : 5;
}

static bool is_for_mma(const struct chunk_state_args *args, const struct gpu_info *gpu, bool backward)
{
    return args->rank >= mma_min_rank(args) && gpu->arch >= 80 && chunk_state_mma_fits(args, gpu, backward);
}

/* Whether low_rank goes back through a diagonal A with its warps side by side, and with exact states. */
static bool is_for_low_rank_backward(const struct chunk_state_args *args, const struct gpu_info *gpu)
{
    struct low_rank_plan plan;
    const bool rounds = args->dtype != FLOAT32 && args->states == NULL;
    return args->chunks >= 8 && !rounds && low_rank_back_plan_of(args, gpu, &plan) == cudaSuccess && plan.stages >= 3;
}

/* Slices of 2 KB of all batches, or 0 where TMA does not take the shape. */
static size_t tma_slices(const struct chunk_state_args *args, const struct gpu_info *gpu)
{
    const struct flat_state flat = flat_state_of(args);
    struct slicing slicing = {0};
    if (flat.per_decay != 0) /* else the launcher will refuse the arguments */
        slicing = slicing_of(&flat, (unsigned)(2048 / dtype_bytes(args->dtype)));
    return gpu->arch < 90 || args->dv % TMA_COLUMNS_OF != 0 || slicing.slices == 0 ||
                   flat.batch > 0x7FFFFFFF / 4 / slicing.slices
               ? 0
               : flat.batch * slicing.slices;
}

enum chunk_state_choice chunk_state_choose(const struct chunk_state_args *args, const struct gpu_info *gpu,
                                           bool backward)
{
    const size_t slices = tma_slices(args, gpu);
    if (args->rank != 0 && is_for_mma(args, gpu, backward))
        return CHOICE_MMA;
    if (args->rank != 0 || args->starts != NULL)
        return CHOICE_LOW_RANK;
    if (slices != 0 && slices <= (size_t)gpu->multiprocessors / (backward ? 2 : 4) &&
        args->chunks >= (backward ? 64 : 32))
        return CHOICE_SPLIT;
    if (backward)
        return slices != 0 ? CHOICE_TMA : is_for_low_rank_backward(args, gpu) ? CHOICE_LOW_RANK : CHOICE_REGISTERS;
    if (args->dtype == FLOAT32 && args->dv % 4 == 0 && (slices == 0 || args->chunks <= 8))
        return CHOICE_PREFETCH;
    return slices != 0 ? CHOICE_TMA : CHOICE_REGISTERS;
}

/* What a choice is. The two passes ask for the same workspace as their launchers do. */
static const struct {
    chunk_state_launcher *forward, *backward;
    size_t (*workspace)(const struct chunk_state_args *args, bool backward);
} choices[] = {
    [CHOICE_REGISTERS] = {chunk_state_registers, chunk_state_registers_backward, chunk_state_registers_workspace},
    [CHOICE_PREFETCH] = {chunk_state_prefetch, NULL, NULL},
    [CHOICE_TMA] = {chunk_state_tma, chunk_state_tma_backward, chunk_state_tma_workspace},
    [CHOICE_SPLIT] = {chunk_state_split, chunk_state_split_backward, chunk_state_tma_workspace},
    [CHOICE_LOW_RANK] = {chunk_state_low_rank, chunk_state_low_rank_backward, chunk_state_low_rank_workspace},
    [CHOICE_MMA] = {chunk_state_mma, chunk_state_mma_backward, chunk_state_mma_workspace},
};

cudaError_t chunk_state_forward(const struct chunk_state_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    return error == cudaSuccess ? choices[chunk_state_choose(args, &gpu, false)].forward(args, stream) : error;
}

cudaError_t chunk_state_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    return error == cudaSuccess ? choices[chunk_state_choose(args, &gpu, true)].backward(args, stream) : error;
}

size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward)
{
    struct gpu_info gpu;
    struct chunk_state_args given = *args;
    if (!backward || gpu_info_read(&gpu) != cudaSuccess)
        return 0;
    if (given.states == NULL)
        given.states = &given; /* who asks without them may give them later, and the choice may be another one */
    const size_t needed = choices[chunk_state_choose(args, &gpu, true)].workspace(args, true);
    const size_t with_states = choices[chunk_state_choose(&given, &gpu, true)].workspace(&given, true);
    return needed > with_states ? needed : with_states;
}

bool chunk_state_mma_fits(const struct chunk_state_args *args, const struct gpu_info *gpu, bool backward)
{
    const bool is_for_wgmma = chunk_state_is_for_wgmma(args, gpu);
    struct low_rank_plan plan;
    struct mma_sums_plan sums;
    if (args->rank == 0 || (!is_for_wgmma && mma_plan_of(args, gpu, &plan) != cudaSuccess))
        return false;
    return !backward || ((is_for_wgmma || mma_back_fits(args)) && mma_sums_plan_of(args, gpu, &sums) == cudaSuccess);
}

bool chunk_state_mma_tensor_cores(const struct chunk_state_args *args, bool backward)
{
    return chunk_state_mma_fits(args, NULL, backward);
}

bool chunk_state_default_tensor_cores(const struct chunk_state_args *args, bool backward)
{
    struct gpu_info gpu;
    return gpu_info_read(&gpu) == cudaSuccess && chunk_state_choose(args, &gpu, backward) == CHOICE_MMA;
}
