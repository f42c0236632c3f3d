/* SPDX-License-Identifier: MIT */
/* pipe.h - chapter 05: sequences of any length, tile after tile. */
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
    PIPE_ROW = 128,              /* elements of a row: 32 lanes with a float4 each */
    PIPE_FLAT_MAX_LEN = 1 << 30, /* flat counts a warp's elements with 32 bits */
    PIPE_PER_WARP_MAX_LEN = 512, /* per_warp has 4 rows at most */
};

/* The launchers: forward only, up to 2^31 - 1 sequences. args->config may choose rows, threads and stages, as far as
   the table says that a kernel takes them. cudaErrorInvalidValue for what a kernel cannot take, cudaErrorNotSupported
   where the chip lacks what it needs. Here are those that others launch, too; kernels.c declares the rest, so that one
   more kernel changes the table alone. */
linrec_launcher pipe_float4_forward;         /* a float4 per lane: coalesced, and each thread its own elements */
linrec_launcher pipe_prefetch_forward;       /* the same; the next tile is loaded while this one is scanned */
linrec_launcher pipe_async_forward;          /* cp.async into stages of shared memory (sm_80) */
linrec_launcher pipe_tma_evict_last_forward; /* TMA bulk copies into stages, with a cache hint (sm_90) */
linrec_launcher pipe_flat_forward;           /* each warp by itself, several short sequences side by side */
linrec_launcher pipe_per_warp_forward;       /* each warp by itself, a whole sequence at once */
linrec_launcher pipe_default_forward;        /* one of these, by length and chip */

/* What default takes for this length on this chip: one of the launchers above, and its launch configuration. */
struct pipe_choice {
    linrec_launcher *launch;
    const char *variant;
    struct launch_config config;
};
struct pipe_choice pipe_choose(size_t seq_len, const struct gpu_info *gpu);

/* What a header of `make TUNED=...` says for this length; launch is NULL if it says nothing. The chip may lack what
   that needs: its launcher then returns cudaErrorNotSupported and has launched nothing. */
struct pipe_choice pipe_tuned(size_t seq_len);

/* Launches `launch` with the choice's configuration in place of args->config. */
cudaError_t pipe_launch(linrec_launcher *launch, const struct pipe_choice *choice, const struct linrec_args *args,
                        cudaStream_t stream);

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

/* Whether per_warp can take sequences of this length with so many rows. A sequence whose length is no multiple of 4 may
   begin up to 3 elements into its first float4. (With an even length it is 2 at most; the rule asks for 3 there, too,
   and so loses 254 and 510.) */
static inline bool pipe_warp_holds(int rows, size_t seq_len)
{
    return (seq_len % 4 == 0 ? seq_len : seq_len + 3) <= (size_t)rows * PIPE_ROW;
}

/* flat: how many sequences a warp takes: as many as fill a row, or one. */
static inline int pipe_flat_seqs(size_t seq_len)
{
    return seq_len < PIPE_ROW ? PIPE_ROW / (int)seq_len : 1;
}

extern const struct linrec_kernel chapter05_kernels[];

#ifdef __cplusplus
}
#endif
#endif
