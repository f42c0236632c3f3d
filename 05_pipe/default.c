/* SPDX-License-Identifier: MIT */
/* default.c - chooses the kernel by length and chip, as measured on an H200 (further/choosing.md):

   - up to 128 elements: flat; up to 512: per_warp. Each warp works by itself, and no thread waits at a barrier;
   - up to 2048: float4, in a single tile;
   - up to 4095, and all longer lengths that are no multiple of 4: prefetch, in two tiles or more;
   - the rest: tma_evict_last, two stages, with large tiles for long sequences; async where the chip has no TMA. */
#include "default.h"
#include "stages.h"
#include "tiles.h"
#include "warps.h"

/* A header that `make TUNED=...` includes before this file lists what to take up to which length:
   X(length, variant, rows, threads, stages). It was tuned on lengths that are multiples of 4. */
#ifndef PIPE_TUNED
#define PIPE_TUNED(X)
#endif
#define TAKE_TUNED(max_seq_len, variant, rows, threads, stages)                                                        \
    if (seq_len <= (max_seq_len) && seq_len % 4 == 0)                                                                  \
        return (struct pipe_choice){pipe_##variant##_forward, #variant, {rows, threads, stages}};

struct pipe_choice pipe_tuned(size_t seq_len)
{
    PIPE_TUNED(TAKE_TUNED)
    (void)seq_len;
    return (struct pipe_choice){NULL, NULL, {0, 0, 0}};
}

struct pipe_choice pipe_choose(size_t seq_len, const struct gpu_info *gpu)
{
    if (seq_len <= PIPE_ROW || (seq_len <= PIPE_PER_WARP_MAX_LEN && !pipe_warp_holds(4, seq_len)))
        return (struct pipe_choice){pipe_flat_forward, "flat", {0, 0, 0}};
    if (seq_len <= PIPE_PER_WARP_MAX_LEN)
        return (struct pipe_choice){pipe_per_warp_forward, "per_warp", {0, 0, 0}};
    if (seq_len <= 2048)
        return (struct pipe_choice){pipe_float4_forward, "float4", {0, 0, 0}};
    if (seq_len < 4096 || seq_len % 4 != 0 || gpu->arch < 80) {
        const int threads = pipe_threads(seq_len, 8, 2, seq_len <= 8192 ? 256 : 320);
        return (struct pipe_choice){pipe_prefetch_forward, "prefetch", {2, threads, 0}};
    }
    if (gpu->arch < 90)
        return (struct pipe_choice){
            pipe_async_forward, "async", {2, pipe_threads(seq_len, 8, 1, seq_len <= 8192 ? 256 : 512), 2}};

    /* four rows of 512 threads in two stages take 128 KB; some chips give a block at most 99 KB */
    const int rows = seq_len > 32768 && gpu->shared_limit >= 128 * 1024 ? 4 : 2;
    const int threads = pipe_threads(seq_len, 4 * rows, 1, seq_len <= 8192 ? 256 : 512);
    return (struct pipe_choice){pipe_tma_evict_last_forward, "tma_evict_last", {rows, threads, 2}};
}

cudaError_t pipe_launch(linrec_launcher *launch, const struct pipe_choice *choice, const struct linrec_args *args,
                        cudaStream_t stream)
{
    struct linrec_args chosen = *args;
    chosen.config = choice->config;
    return launch(&chosen, stream);
}

cudaError_t pipe_default_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_choice tuned = pipe_tuned(args->seq_len);
    struct gpu_info gpu;
    cudaError_t error = tuned.launch != NULL ? pipe_launch(tuned.launch, &tuned, args, stream) : cudaErrorNotSupported;
    if (error != cudaErrorNotSupported || (error = gpu_info_read(&gpu)) != cudaSuccess)
        return error;
    const struct pipe_choice choice = pipe_choose(args->seq_len, &gpu);
    return pipe_launch(choice.launch, &choice, args, stream);
}
