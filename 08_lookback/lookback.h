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

/* The launchers: forward or reversed, as backward.h has them. At most 2^31 - 1 tiles. All but cluster and its backward
   need workspace (below), and of these all but three_pass want it filled with 0xFF before the first launch, and leave
   it so: every launch cleans up, which is part of its time. Two launches that run at the same time need a workspace
   each. In resident and persistent_cluster, and so in the default, blocks wait for blocks that began after them: do not
   launch two of these at the same time, nor one beside other kernels that wait for blocks. */
linrec_launcher lookback_three_pass;        /* each tile's aggregate, what comes into each tile, all tiles once more */
linrec_launcher lookback_chained;           /* one pass: each tile waits for the one before */
linrec_launcher lookback_lookback;          /* one pass: a warp looks back over 32 tiles at once */
linrec_launcher lookback_resident;          /* the same for few tiles, whose blocks are all on the chip at once */
linrec_launcher lookback_resident_backward; /* both gradients, in the same way */
linrec_launcher lookback_cluster; /* a cluster of blocks for each sequence, of up to CLUSTER_MAX_LEN elements (sm_90) */
linrec_launcher lookback_cluster_backward;            /* both gradients, in the same way (sm_90) */
linrec_launcher lookback_persistent_cluster;          /* clusters of persistent blocks, tiles in registers (sm_90) */
linrec_launcher lookback_persistent_cluster_backward; /* both gradients, in the same way (sm_90) */

/* One of these, or an earlier chapter's kernel where that is as fast: by number and length of the sequences and by
   chip. The default of the whole course. */
linrec_launcher linrec_forward, linrec_backward;

/* Bytes of workspace that they need. */
size_t lookback_three_pass_workspace(const struct linrec_args *args);
size_t lookback_workspace(const struct linrec_args *args);
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args); /* the same for all sizes */
size_t linrec_workspace(const struct linrec_args *args);                      /* the larger of the two */

/* The sequences in tiles of `rows` rows for each of LOOKBACK_THREADS / 32 warps: 1, 2 or 4. Other rows: too many tiles
   to be numbered, which lookback_check refuses. */
struct tiling lookback_tiling(const struct linrec_args *args, int rows);

/* What every launcher of one pass checks: arguments, workspace and the number of tiles. */
cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling);

/* Whether all blocks of resident or resident_backward, one for each tile, are on the chip at the same time. */
cudaError_t lookback_all_fit(const void *kernel, int threads, const struct tiling *tiling, bool *all_fit);

extern const struct linrec_kernel chapter08_kernels[];
extern const struct chapter chapter08;

#ifdef __cplusplus
}
#endif
#endif
