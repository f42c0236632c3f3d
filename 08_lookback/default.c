/* SPDX-License-Identifier: MIT */
/* default.c - the default of the whole course: which chapter's kernel for which sequences on which chip. Measured on an
   H200 (further/choosing.md). */
#include "../05_pipe/tiles.h"
#include "../06_backward/default.h"
#include "../06_backward/gradients.h"
#include "../06_backward/scan.h"
#include "../common/cuda/forget_error.h"
#include "cluster_plan.h"
#include "lookback.h"

enum {
    SHORT = 4096,              /* up to this length `per_block` takes a sequence as a whole, */
    SHORT_SEQS = 16,           /* up to so many sequences for each multiprocessor, */
    VERY_SHORT = 256,          /* or one if they are no longer than this; more go to chapter 06's default */
    CLUSTER_BACKWARD = 65536,  /* up to this length `cluster` takes gradients of few sequences, */
    CLUSTER_MANY = 32768,      /* or this one if they have, all together, more than */
    FEW_ELEMS = 1 << 19,       /* so many elements: there `one_hop` is faster */
    PREFETCH = 65536,          /* up to this length `prefetch` takes sequences that have a block each, */
    PREFETCH_BACKWARD = 32768, /* backward up to this one, */
    PREFETCH_SEQS = 8,         /* and up to so many sequences for each multiprocessor, */
    PREFETCH_LONG = 8192,      /* or half as many if they are longer than this */
};

/* The launch of `prefetch`, with a block for each sequence and all blocks at the same time. The next tile waits in
   registers, so the fewer blocks a multiprocessor has, the larger their tiles may be, as long as a sequence has two.
   Only chapter 05's kernel, which goes forward and takes no states, has four rows. */
static struct launch_config prefetch_config(const struct linrec_args *args, bool backward, const struct gpu_info *gpu)
{
    const size_t for_each = (args->num_seqs - 1) / gpu->multiprocessors + 1;
    const int rows =
        !backward && !args->reverse && !linrec_has_states(args) && for_each <= 2 && args->seq_len > PREFETCH_LONG ? 4
                                                                                                                  : 2;
    const int most = for_each == 1 && args->seq_len > PREFETCH_LONG ? 512 : 256;
    return (struct launch_config){rows, pipe_threads(args->seq_len, 4 * rows, 2, most), 0};
}

/* Whether `per_block` is the fastest: all of a sequence is on its way at once, and only one barrier is waited for.
   Longer sequences fit it, too, but are faster there only with one for each multiprocessor. */
static bool is_for_block(const struct linrec_args *args, const struct gpu_info *gpu)
{
    const size_t multiprocessors = (size_t)gpu->multiprocessors;
    if (args->seq_len <= SHORT)
        return args->num_seqs <= multiprocessors * (args->seq_len > VERY_SHORT ? SHORT_SEQS : 1);
    return args->seq_len <= BLOCK_MAX_LEN && args->num_seqs > multiprocessors / 2 && args->num_seqs <= multiprocessors;
}

/* Whether `cluster` is the fastest: it polls no descriptors, but the more sequences there are, the more others are
   on the chip while the blocks of one wait for each other. */
static bool is_for_cluster(const struct linrec_args *args, bool backward, const struct gpu_info *gpu)
{
    if (backward && args->seq_len > CLUSTER_MANY && args->num_seqs * args->seq_len > FEW_ELEMS)
        return false;
    return gpu->arch >= 90 && args->seq_len <= (size_t)(backward ? CLUSTER_BACKWARD : CLUSTER_MAX_LEN);
}

/* Whether no more than half of the multiprocessors would be busy with a block for each sequence: then this chapter's
   kernels are faster. */
static bool is_for_many_blocks(const struct linrec_args *args, const struct gpu_info *gpu)
{
    return args->seq_len > SHORT && args->num_seqs <= (size_t)gpu->multiprocessors / 2;
}

/* A kernel that cannot be launched here leaves it to the next one, whatever its error: some chips refuse a cluster with
   another one than those that say that there is no room. `resident` runs anywhere. */
static cudaError_t choose(const struct linrec_args *args, bool backward, cudaStream_t stream)
{
    const cudaError_t before = cudaPeekAtLastError();
    struct linrec_args chosen = *args;
    struct gpu_info gpu;
    cudaError_t error = linrec_check_args_and_states(args, backward);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, backward, stream);
    if ((error = gpu_info_read(&gpu)) != cudaSuccess)
        return error;
    if (is_for_block(args, &gpu))
        return (backward ? backward_per_block : scan_per_block)(args, stream);
    if (!is_for_many_blocks(args, &gpu)) {
        const size_t for_each = args->seq_len > PREFETCH_LONG ? PREFETCH_SEQS / 2 : PREFETCH_SEQS;
        if (args->seq_len <= SHORT || args->num_seqs > for_each * gpu.multiprocessors ||
            args->seq_len > (backward ? PREFETCH_BACKWARD : PREFETCH))
            return (backward ? backward_default : scan_default)(args, stream);
        chosen.config = prefetch_config(args, backward, &gpu);
        return (backward                                   ? backward_prefetch
                : args->reverse || linrec_has_states(args) ? scan_prefetch
                                                           : pipe_prefetch_forward)(&chosen, stream);
    }
    if (is_for_cluster(args, backward, &gpu)) {
        error = (backward ? lookback_cluster_backward_on : lookback_cluster_on)(args, &gpu, stream);
        if (error == cudaSuccess)
            return error;
        forget_error(before);
    }
    /* one_hop is the fastest of the others, and refuses what the chip has no room for at once */
    error = (backward ? lookback_one_hop_backward_on : lookback_one_hop_on)(args, &gpu, stream);
    if (error == cudaSuccess)
        return error;
    forget_error(before);
    if (gpu.arch >= 90) {
        error =
            (backward ? lookback_persistent_cluster_backward_on : lookback_persistent_cluster_on)(args, &gpu, stream);
        if (error == cudaSuccess)
            return error;
        forget_error(before);
    }
    return (backward ? lookback_resident_backward_on : lookback_resident_on)(args, &gpu, stream);
}

/* The larger of what persistent_cluster and resident need, since the one may have to stand in for the other. */
size_t linrec_workspace(const struct linrec_args *args)
{
    const size_t descriptors = lookback_resident_workspace(args), ring = lookback_persistent_cluster_workspace(args);
    struct gpu_info gpu;
    if (args->num_seqs == 0 || args->seq_len == 0 ||
        (gpu_info_read(&gpu) == cudaSuccess && !is_for_many_blocks(args, &gpu)))
        return 0;
    return descriptors > ring ? descriptors : ring;
}

cudaError_t linrec_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, false, stream);
}

cudaError_t linrec_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, true, stream);
}
