/* SPDX-License-Identifier: MIT */
/* default.c - chooses the kernel by length and chip, forward, reversed and backward. */
#include "default.h"

#include "../05_pipe/stages.h"
#include "../05_pipe/tiles.h"
#include "../05_pipe/warps.h"
#include "gradients.h"
#include "scan.h"

cudaError_t backward_check(const struct linrec_args *args, bool backward, const struct launch_config *config)
{
    const cudaError_t error = linrec_check_args_and_states(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return pipe_config_fits(args, config) ? cudaSuccess : cudaErrorInvalidValue;
}

/* Chapter 05's kernels, and this chapter's of the same name, which also go in reverse. */
static const struct {
    linrec_launcher *forward, *both;
} both_directions[] = {
    {pipe_float4_forward, scan_float4}, {pipe_prefetch_forward, scan_prefetch},
    {pipe_async_forward, scan_async},   {pipe_tma_evict_last_forward, scan_tma_evict_last},
    {pipe_flat_forward, scan_flat},     {pipe_per_warp_forward, scan_per_warp},
};

/* A choice of chapter 05, by this chapter's kernel of the same name; where there is none, by chapter 05's, which takes
   neither direction nor states. */
static cudaError_t launch_scan(const struct pipe_choice *choice, const struct linrec_args *args, cudaStream_t stream)
{
    for (size_t i = 0; i < sizeof both_directions / sizeof both_directions[0]; i++)
        if (both_directions[i].forward == choice->launch)
            return pipe_launch(both_directions[i].both, choice, args, stream);
    return args->reverse || linrec_has_states(args) ? cudaErrorNotSupported
                                                    : pipe_launch(choice->launch, choice, args, stream);
}

cudaError_t scan_default(const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_choice tuned = pipe_tuned(args->seq_len);
    struct gpu_info gpu;
    cudaError_t error = tuned.launch != NULL ? launch_scan(&tuned, args, stream) : cudaErrorNotSupported;
    if (error != cudaErrorNotSupported || (error = gpu_info_read(&gpu)) != cudaSuccess)
        return error;
    const struct pipe_choice choice = pipe_choose(args->seq_len, &gpu);
    return launch_scan(&choice, args, stream);
}

/* A header that `make TUNED=...` includes before this file may list what to take up to which length; see chapter 05. */
#ifndef BACKWARD_TUNED
#define BACKWARD_TUNED(X)
#endif
#define TAKE_TUNED(max_seq_len, variant, rows, threads, stages)                                                        \
    if (seq_len <= (max_seq_len) && seq_len % 4 == 0)                                                                  \
        return (struct pipe_choice){backward_##variant, #variant, {rows, threads, stages}};

static struct pipe_choice backward_tuned(size_t seq_len)
{
    BACKWARD_TUNED(TAKE_TUNED)
    (void)seq_len;
    return (struct pipe_choice){NULL, NULL, {0, 0, 0}};
}

/* Measured on an H200 (further/choosing.md): up to a warp's row, flat; up to 1024 elements per_block, a block for the
   whole sequence; above that the TMA with two stages of large tiles, or what the chip has in its place. */
struct pipe_choice backward_choose(size_t seq_len, const struct gpu_info *gpu)
{
    if (seq_len <= PIPE_ROW)
        return (struct pipe_choice){backward_flat, "flat", {0, 0, 0}};
    if (seq_len <= 1024)
        return (struct pipe_choice){backward_per_block, "per_block", {0, 0, 0}};
    if (gpu->arch < 80)
        return (struct pipe_choice){backward_prefetch, "prefetch", {0, 0, 0}};
    if (gpu->arch < 90)
        return (struct pipe_choice){backward_async, "async", {2, pipe_threads(seq_len, 8, 1, 256), 2}};

    /* three arrays in two stages take 96 bytes for each thread and row; some chips give a block at most 99 KB */
    int rows = 4, threads = pipe_threads(seq_len, 16, 1, seq_len < 16384 ? 256 : 512);
    if ((size_t)2 * 3 * 16 * rows * threads > gpu->shared_limit)
        rows = 2, threads = pipe_threads(seq_len, 8, 1, 256);
    return (struct pipe_choice){backward_tma_evict_last, "tma_evict_last", {rows, threads, 2}};
}

cudaError_t backward_default(const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_choice tuned = backward_tuned(args->seq_len);
    struct gpu_info gpu;
    cudaError_t error = tuned.launch != NULL ? pipe_launch(tuned.launch, &tuned, args, stream) : cudaErrorNotSupported;
    if (error != cudaErrorNotSupported || (error = gpu_info_read(&gpu)) != cudaSuccess)
        return error;
    const struct pipe_choice choice = backward_choose(args->seq_len, &gpu);
    return pipe_launch(choice.launch, &choice, args, stream);
}
