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
   before the first launch. They leave it fit for the next one: every launch cleans up, which is part of its time
   (one_hop only moves a number on). So one workspace serves all of these, call after call, whatever the sizes. Two
   launches that run at the same time need a workspace each. In a workspace that is in another state a launch ends with
   an error, gives wrong results or waits for ever, but it reads and writes nothing else.

   Each may run beside any other kernel: a block waits only for blocks that began before it, or for blocks of its
   cluster; and where it waits for others (grid_sync, resident with few tiles, one_hop, persistent_cluster), the launch
   is a cooperative one, whose blocks all begin or none.

   cudaErrorNotSupported: the chip, or this part of it, has not got what the kernel needs; nothing was launched, and no
   call has failed. */
linrec_launcher lookback_three_pass;        /* each tile's aggregate, what comes into each tile, all tiles once more */
linrec_launcher lookback_grid_sync;         /* the same in one launch: the grid meets between the passes */
linrec_launcher lookback_chained;           /* one pass: each tile waits for the one before */
linrec_launcher lookback_one_pass;          /* one pass: a warp looks back over 32 tiles at once */
linrec_launcher lookback_resident;          /* the same in a fixed order, and faster where all tiles fit the chip */
linrec_launcher lookback_resident_backward; /* both gradients, in the same way */
linrec_launcher lookback_one_hop;           /* a tile reads all aggregates before it at once, where all tiles fit */
linrec_launcher lookback_one_hop_backward;  /* both gradients, in the same way */
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
size_t lookback_one_hop_workspace(const struct linrec_args *args);            /* the same for all sizes */
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args); /* and here, too */

/* The same for linrec_forward and linrec_backward, on the current device. 0 where no kernel that they may take there
   needs any: sequences of up to 4096 elements, or more sequences than half of the multiprocessors. */
size_t linrec_workspace(const struct linrec_args *args);

/* Whether all tiles of so many sequences fit the current device at once, so that one_hop takes them. */
bool lookback_one_hop_has_room(const struct linrec_args *args);

/* Makes `size` bytes of device memory a workspace, once: sets all their bits, in the order of the stream. Returns what
   cudaMemsetAsync returns. */
cudaError_t lookback_workspace_init(void *workspace, size_t size, cudaStream_t stream);

/* The workspace begins with one_hop's part (one_hop.cuh), which no other kernel touches; then come a ticket, a counter
   and the descriptors of all others (workspace.cuh). So each part is in the same place in every launch. Bytes of one
   with so many descriptors, and where the second part begins. */
size_t lookback_workspace_of(size_t descriptors);
struct workspace *lookback_space(const struct linrec_args *args);

/* The sequences in tiles of `rows` rows for each of LOOKBACK_THREADS / 32 warps: 1, 2 or 4. Other rows: too many tiles
   to be numbered, which lookback_check refuses. */
struct tiling lookback_tiling(const struct linrec_args *args, int rows);

/* What all launchers check whose tiles any number of blocks may take: arguments, the number of tiles, and that the
   workspace has so many bytes and is aligned to 16. States are right here; kernels that do not take them refuse them
   themselves. */
cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling,
                           size_t workspace_size);

/* Launchers that are told what gpu_info_read says, so that the default asks it once for all that it tries. */
typedef cudaError_t lookback_launcher(const struct linrec_args *args, const struct gpu_info *gpu, cudaStream_t stream);
lookback_launcher lookback_resident_on, lookback_resident_backward_on;
lookback_launcher lookback_one_hop_on, lookback_one_hop_backward_on;
lookback_launcher lookback_cluster_on, lookback_cluster_backward_on;
lookback_launcher lookback_persistent_cluster_on, lookback_persistent_cluster_backward_on;

/* Asks it, and calls one of these. */
cudaError_t lookback_launch(lookback_launcher *launcher, const struct linrec_args *args, cudaStream_t stream);

/* Whether all blocks of a kernel, one for each tile, fit the chip at the same time, and a launch can ask for that. */
cudaError_t lookback_all_fit(const void *kernel, int threads, const struct tiling *tiling, const struct gpu_info *gpu,
                             bool *all_fit);

extern const struct linrec_kernel chapter08_kernels[];
extern const struct chapter chapter08;

#ifdef __cplusplus
}
#endif
#endif
