/* SPDX-License-Identifier: MIT */
/* backward_space.h - the part of the workspace that all backward kernels of chapter 10 need (backward_space.cu): the
   states, if the caller has not kept them, and partial sums of d_gamma, if a decay has more columns than a block takes.
   */
#ifndef BACKWARD_SPACE_H
#define BACKWARD_SPACE_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct backward_space {
    const void *states; /* before each chunk */
    float *d_gamma;     /* `parts` sums for each decay: args->d_gamma itself, if there is one */
    size_t parts;
};

/* Bytes of workspace. */
size_t backward_workspace(const struct chunk_state_args *args, size_t parts);

/* Fills in *space; where args->states is NULL it launches `forward` for them. */
cudaError_t backward_space(const struct chunk_state_args *args, size_t parts, chunk_state_launcher *forward,
                           cudaStream_t stream, struct backward_space *space);

/* Launches what adds up the parts, in their order, into args->d_gamma. */
cudaError_t backward_add_parts(const struct chunk_state_args *args, const struct backward_space *space,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
