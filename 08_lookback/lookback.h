/* SPDX-License-Identifier: MIT */
/* lookback.h - chapter 08: a few long sequences over the whole GPU, their tiles side by side. */
#ifndef LOOKBACK_H
#define LOOKBACK_H

#include "../06_backward/backward.h"
#include "../common/harness/harness.h"
#include "tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOOKBACK_ROWS = 4, /* of 128 elements in each warp's part of a tile */
    LOOKBACK_THREADS = 256,
};

/* The launchers: forward or reversed, as chapter 06 has them. At most 2^31 - 1 tiles. All but cluster and its backward
   need workspace (below), and of these all but three_pass and grid_sync want it as lookback_workspace_init makes it
   before the first launch, and leave it so: every launch cleans up, which is part of its time. Two launches that run at
   the same time need a workspace each. In a workspace that is in another state a launch ends with an error, gives wrong
   results or waits for ever, but it reads and writes nothing else.

   Each may run beside any other kernel: a block waits only for blocks that began before it, or for blocks of its
   cluster; and where it waits for others (grid_sync, resident with few tiles, persistent_cluster), the launch is a
   cooperative one, whose blocks all begin or none.

   cudaErrorNotSupported: the chip, or this part of it, has not got what the kernel needs; nothing was launched, and no
   call has failed. */
linrec_launcher lookback_three_pass;        /* each tile's aggregate, what comes into each tile, all tiles once more */
linrec_launcher lookback_grid_sync;         /* the same in one launch: the grid meets between the passes */
linrec_launcher lookback_chained;           /* one pass: each tile waits for the one before */
linrec_launcher lookback_one_pass;          /* one pass: a warp looks back over 32 tiles at once */
linrec_launcher lookback_resident;          /* the same in a fixed order, and faster where all tiles fit the chip */
linrec_launcher lookback_resident_backward; /* both gradients, in the same way */
linrec_launcher lookback_cluster; /* a cluster of blocks for each sequence, of up to CLUSTER_MAX_LEN elements (sm_90) */
linrec_launcher lookback_cluster_backward;            /* both gradients, in the same way (sm_90) */
linrec_launcher lookback_persistent_cluster;          /* clusters of persistent blocks, tiles in registers (sm_90) */
linrec_launcher lookback_persistent_cluster_backward; /* both gradients, in the same way (sm_90) */

/* One of these, or an earlier chapter's kernel where that is as fast: by number and length of the sequences and by
   chip. The default of the whole course. The same launch on the same chip gives the same bits, always. */
linrec_launcher linrec_forward, linrec_backward;

/* Bytes of workspace that they need; three_pass_workspace for grid_sync, too. */
size_t lookback_three_pass_workspace(const struct linrec_args *args);
size_t lookback_workspace(const struct linrec_args *args);
size_t lookback_resident_workspace(const struct linrec_args *args);
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args); /* the same for all sizes */

/* The same for linrec_forward and linrec_backward, on the current device. 0 where no kernel that they may take there
   needs any: sequences of up to 4096 elements, or more sequences than half of the multiprocessors. */
size_t linrec_workspace(const struct linrec_args *args);

/* Makes `size` bytes of device memory a workspace, once: sets all their bits, in the order of the stream. Returns what
   cudaMemsetAsync returns. */
cudaError_t lookback_workspace_init(void *workspace, size_t size, cudaStream_t stream);

/* The sequences in tiles of `rows` rows for each of LOOKBACK_THREADS / 32 warps: 1, 2 or 4. Other rows: too many tiles
   to be numbered, which lookback_check refuses. */
struct tiling lookback_tiling(const struct linrec_args *args, int rows);

/* What every launcher of one pass checks: arguments, workspace and the number of tiles. States are right here; kernels
   that do not take them refuse them themselves. */
cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling);

/* Launchers that are told what gpu_info_read says, so that the default asks it once for all that it tries. */
typedef cudaError_t lookback_launcher(const struct linrec_args *args, const struct gpu_info *gpu, cudaStream_t stream);
lookback_launcher lookback_resident_on, lookback_resident_backward_on;
lookback_launcher lookback_cluster_on, lookback_cluster_backward_on;
lookback_launcher lookback_persistent_cluster_on, lookback_persistent_cluster_backward_on;

/* Asks it, and calls one of these. */
cudaError_t lookback_launch(lookback_launcher *launcher, const struct linrec_args *args, cudaStream_t stream);

/* Whether all blocks of resident or resident_backward, one for each tile, fit the chip at the same time, and a launch
   can ask for that. */
cudaError_t lookback_all_fit(const void *kernel, int threads, const struct tiling *tiling, const struct gpu_info *gpu,
                             bool *all_fit);

extern const struct linrec_kernel chapter08_kernels[];
extern const struct chapter chapter08;

#ifdef __cplusplus
}
#endif
#endif
