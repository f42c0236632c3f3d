/* lookback.h - chapter 08: a few long sequences over the whole GPU, their tiles side by side. */
#ifndef LOOKBACK_H
#define LOOKBACK_H

#include "../06_backward/backward.h"
#include "../common/harness/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOOKBACK_ROWS = 4, /* of 128 elements in each warp's part of a tile */
    LOOKBACK_THREADS = 256,
    LOOKBACK_LEAST_TILE = 512,
    PERSISTENT_MAX_THREADS = 256,          /* of each of the two groups of warps that compute */
    PERSISTENT_MAX_THREADS_BACKWARD = 192, /* of persistent_backward: with more, their registers would not suffice */
    PERSISTENT_MAX_STAGES = 16,            /* tiles in shared memory at once */
    PERSISTENT_LATER = 1,                  /* tiles that a block sums up before it looks */
    PERSISTENT_WORDS = 6,                  /* of other tiles that a lane looks at */
    PERSISTENT_MAX_BLOCKS = 32 * PERSISTENT_WORDS,
    PERSISTENT_CLUSTER_MAX_THREADS = 320, /* of a crew: with the two warps beside it, 168 registers are left for each */
    PERSISTENT_CLUSTER_ROWS = 4,          /* of each of its warps */
    PERSISTENT_CLUSTER_TILES = 3,         /* that a crew has in registers */
    PERSISTENT_CLUSTER_STAGES = 2,        /* tiles on their way to shared memory */
    PERSISTENT_CLUSTER_BLOCKS = 8,        /* of a cluster: any such chip takes so many */
    PERSISTENT_CLUSTER_MAX_CLUSTERS = 32, /* a lane looks at one */
    /* Turns whose words lie side by side. Who tells in turn t knows the carry of turn t - PERSISTENT_CLUSTER_TILES, so all clusters
       have told in turn t - PERSISTENT_CLUSTER_TILES - 1 or later, and looked in turn t - 2 PERSISTENT_CLUSTER_TILES - 1. That was the last look at
       words of the turn before, which the words of turn t replace. */
    PERSISTENT_CLUSTER_RING = 2 * PERSISTENT_CLUSTER_TILES + 2,
    PERSISTENT_CLUSTER_OWN_SHARED = 2048, /* bytes of shared memory beside the tiles, at most */
    CLUSTER_MAX_THREADS = 512,            /* of a block of cluster, with up to 4 rows for each warp, */
    CLUSTER_MAX_BLOCKS = 16,              /* and of them in a cluster: more there are nowhere */
    CLUSTER_FEW = 6, /* so many sequences have as many each: an H200 holds seven such clusters at once */
    /* of a sequence, with 4 rows; it may begin up to 3 elements into its first group */
    CLUSTER_MAX_LEN = CLUSTER_MAX_BLOCKS * 16 * CLUSTER_MAX_THREADS - 3,
};

/* How sequences are cut into tiles. Tiles are numbered over all sequences: those of sequence 0 first, in scan order. */
struct cut {
    size_t seq_len;     /* elements of a sequence */
    unsigned seq_tiles; /* tiles of a sequence */
    unsigned num_tiles; /* of all sequences */
    int tile_len;       /* elements of a tile, a multiple of 4 */
};

/* The launchers: forward or reversed, as backward.h has them. At most 2^31 - 1 tiles. All but cluster and its backward
   need workspace (below), and of these all but three_pass want it filled with 0xFF before the first launch, and leave
   it so: every launch cleans up, which is part of its time. Two launches that run at the same time need a workspace
   each. */
linrec_launcher lookback_three_pass;        /* what each tile does, what comes into each tile, all tiles once more */
linrec_launcher lookback_chained;           /* one pass: each tile waits for the one before */
linrec_launcher lookback_lookback;          /* one pass: a warp looks back over 32 tiles at once */
linrec_launcher lookback_resident;          /* the same for few tiles: a warp of its own has the words */
linrec_launcher lookback_resident_backward; /* both gradients, in the same way */
linrec_launcher lookback_persistent; /* the blocks stay, tiles wait in shared memory, all joins in one order (sm_90) */
linrec_launcher lookback_persistent_backward; /* both gradients, in the same way (sm_90) */
linrec_launcher
    lookback_persistent_cluster; /* waves, forward, with the tiles in registers, and clusters of blocks (sm_90) */
linrec_launcher lookback_persistent_cluster_backward; /* both gradients, in the same way (sm_90) */
linrec_launcher lookback_cluster; /* a cluster of blocks for each sequence, of up to CLUSTER_MAX_LEN elements (sm_90) */
linrec_launcher lookback_cluster_backward; /* both gradients, in the same way (sm_90) */

/* One of these, or chapter 06's default where that is as fast: by number and length of the sequences and by chip. The
   default of the whole course. */
linrec_launcher linrec_forward, linrec_backward;

/* Bytes of workspace that they need. */
size_t lookback_three_pass_workspace(const struct linrec_args *args);
size_t lookback_workspace(const struct linrec_args *args);
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args); /* the same for all sizes */
size_t linrec_workspace(const struct linrec_args *args);                      /* the larger of the two */

/* The sequences in tiles of `rows` rows for each of LOOKBACK_THREADS / 32 warps: 1, 2 or 4. Other rows: too many tiles
   to be numbered, which lookback_check refuses. */
struct cut lookback_cut(const struct linrec_args *args, int rows);

/* In the smallest tiles that any launcher makes: the workspace has words for these. */
struct cut lookback_least_cut(const struct linrec_args *args);

/* What every launcher of one pass checks: arguments, workspace and the number of tiles. */
cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct cut *cut);

/* Whether all blocks of few or resident_backward, one for each tile, are on the chip at the same time. */
cudaError_t lookback_all_fit(const void *kernel, int threads, const struct cut *cut, bool *all_fit);

/* How waves and persistent_backward run: a group's threads are the rows of a tile, and as many stages as fit. */
struct persistent_shape {
    struct cut cut;
    int rows, threads, stages;
    unsigned blocks;    /* all of them are on the chip at the same time */
    size_t shared;      /* bytes of dynamic shared memory */
    size_t most_shared; /* that a block can have */
};

/* Fits the tiles to the chip, so that the last blocks to end have as much to do as the others. num_arrays: how many
   are in a stage, 2 or 3. cudaErrorNotSupported if the chip lacks what they need. */
cudaError_t persistent_shape(const struct linrec_args *args, int rows, int most_threads, int num_arrays,
                             struct persistent_shape *shape);

/* How crews and persistent_cluster_backward run: tiles go round over all clusters that are on the chip at the same time. */
struct persistent_cluster_shape {
    struct cut cut; /* seq_tiles is a multiple of PERSISTENT_CLUSTER_BLOCKS: the last ones may have no elements */
    int threads;
    unsigned blocks;
    size_t shared;      /* bytes of dynamic shared memory */
    int num_tiles;      /* that this is */
    size_t most_shared; /* that a block can have */
};

/* Checks what args says, and sets the most threads and shared memory that the blocks can need; then fits the tiles to
   so many clusters, as persistent_shape does. cudaErrorNotSupported if the chip has no clusters, or no room for one. */
cudaError_t persistent_cluster_shape(const struct linrec_args *args, bool backward,
                                     struct persistent_cluster_shape *shape);
cudaError_t persistent_cluster_fit(const struct linrec_args *args, int clusters,
                                   struct persistent_cluster_shape *shape);

/* How cluster and cluster_backward run: a tile for each block, seq_tiles blocks for each cluster. */
struct cluster_shape {
    struct cut cut;
    int rows, threads;
};

/* What args->config says, and else by the sequence's length: 8 blocks with 2 rows and 256 threads if they suffice for
   it, or up to most_blocks with 4 rows, or 512 threads; for up to CLUSTER_FEW sequences 16 blocks in place of these.
   cudaErrorInvalidValue if it does not fit a cluster at all, cudaErrorNotSupported if the chip has no clusters. */
cudaError_t cluster_shape(const struct linrec_args *args, unsigned most_blocks, struct cluster_shape *shape);

extern const struct linrec_kernel chapter08_kernels[];
extern const struct chapter chapter08;

#ifdef __cplusplus
}
#endif
#endif
