/* SPDX-License-Identifier: MIT */
/* pipe.h - chapter 05: sequences of any length, tile after tile. What all launchers share; tiles.h, stages.h, warps.h
   and default.h declare them, each those of one kind, so that one more kernel rebuilds its own kind alone. */
#ifndef PIPE_H
#define PIPE_H

#include "../common/cuda/gpu_info.h"
#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PIPE_MAX_THREADS = 512, /* of a block: what the kernels are compiled for */
    PIPE_MAX_STAGES = 4,
    PIPE_ROW = 128, /* elements of a row: 32 lanes with a float4 each */
};

/* All launchers of this chapter: forward only, up to 2^31 - 1 sequences. args->config may choose rows, threads and
   stages, as far as the table says that a kernel takes them. cudaErrorInvalidValue for what a kernel cannot take,
   cudaErrorNotSupported where the chip lacks what it needs. */
extern const struct linrec_kernel chapter05_kernels[];

/* Threads of a block for tiles with `elems` elements a thread: the sequence is cut into `tiles` tiles, or into more if
   that took more than `most` threads, and then as few threads as suffice for tiles of equal size. */
int pipe_threads(size_t seq_len, int elems, size_t tiles, int most);

/* The launch configuration: what args->config says, and else these rows and stages, and the threads for one tile
   if `most_threads` suffice for it. */
struct launch_config pipe_config(const struct linrec_args *args, int rows, int most_threads, int stages);

/* What every launcher of this chapter checks: the arguments, forward only, and the configuration. */
cudaError_t pipe_check(const struct linrec_args *args, const struct launch_config *config);

/* Whether rows, threads and stages are among those that are compiled, for up to 2^31 - 1 sequences. */
bool pipe_config_fits(const struct linrec_args *args, const struct launch_config *config);

#ifdef __cplusplus
}
#endif
#endif
