/* low_rank.h - the shapes of low_rank.cu and low_rank_backward.cu. */
#ifndef LOW_RANK_H
#define LOW_RANK_H

#include "chunk_state.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    COLUMNS = 32, /* of the state, that a block has */
    RANKS = 8,    /* of p, that are added up over the warps at once */
    LOW_RANK_MAX_THREADS = 512,
    LOW_RANK_MAX_STAGES = 8,
};

/* How a launch is cut, and what lies where in a stage. A warp has 8 rows, or 32 if dk is above 128. Rows are filled up
   with zeros to a multiple of that, and the rank to one of 4. */
struct low_rank_shape {
    size_t chunks, heads, dv;
    int dk, rank, decays, slices;
    int stages;         /* as many as --config says, or fit; 0: not even one */
    int padded;         /* the rank, filled up */
    int x_unit, w_unit; /* bytes that are copied at once */
    unsigned x_bytes, w_bytes, stage_bytes;
    size_t own, limit; /* bytes of shared memory beside the stages, and in all */
    unsigned blocks, threads;
};
cudaError_t low_rank_shape_of(const struct chunk_state_args *args, struct low_rank_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
