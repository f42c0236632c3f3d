/* SPDX-License-Identifier: MIT */
/* low_rank_sums.h - sums that low_rank_backward.cu leaves to a second launch (low_rank_sums.cu): each block has some
   columns of a head, and its own part of the sums over columns. */
#ifndef LOW_RANK_SUMS_H
#define LOW_RANK_SUMS_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the parts of the sums lie: of each slice d_W, d_Y and then d_gamma. */
struct part_counts {
    size_t decays, ranks; /* elements of gamma, and of W */
    size_t all;           /* of a slice, filled up to a multiple of 4 */
};
struct part_counts low_rank_counts(const struct chunk_state_args *args);

/* Bytes of the parts in the workspace. */
size_t low_rank_parts_bytes(const struct chunk_state_args *args);

/* Launches what adds up the slices' parts into args->d_gamma, d_W and d_Y (low_rank_sums.cu). */
cudaError_t low_rank_add_slices(const struct chunk_state_args *args, const float *parts, int slices,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
