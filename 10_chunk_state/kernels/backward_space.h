/* SPDX-License-Identifier: MIT */
/* backward_space.h - the part of the workspace that all backward kernels of chapter 10 need (backward_space.cu): the
   states, if the caller has not kept them, and partial sums of d_gamma, if a decay has more columns than a block takes.

   All states in 16 bits would be rounded, and d_gamma with them; in float32 they would be twice as many bytes. So in
   16 bits only the state before every 8th chunk is stored, in float32, and backward computes those between once more:

       chunk         0 ... 7    |  8 ... 15           |  16 ... 23          |  24 ... 27        four stretches
       from          initial_state  checkpoint 0         checkpoint 1          checkpoint 2     through their h_local */
#ifndef BACKWARD_SPACE_H
#define BACKWARD_SPACE_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks of a stretch. 1: all states are stored, in the arrays' type; so do the kernels with W and Y in 16 bits, too.
   */
#define STRETCH(dtype) ((dtype) == FLOAT32 ? 1 : 8)

struct backward_space {
    const void *states; /* before each chunk; if they are to be computed again: h_local */
    bool again;
    const float *initial_state; /* before the first stretch; NULL: 0, or not to be read */
    float *checkpoints;         /* before each other one: (stretches - 1, batch, heads, dk, dv) */
    float *d_gamma;             /* `parts` sums for each decay: args->d_gamma itself, if there is one */
    size_t parts;
};

/* Bytes of workspace. */
size_t backward_workspace(const struct chunk_state_args *args, int stretch, size_t parts);

/* Fills in *space; where args->states is NULL it launches `forward`, for all states or, of longer stretches, for
   args->checkpoints, if there are any. */
cudaError_t backward_space(const struct chunk_state_args *args, int stretch, size_t parts,
                           chunk_state_launcher *forward, cudaStream_t stream, struct backward_space *space);

/* Launches what adds up the parts, in their order, into args->d_gamma. */
cudaError_t backward_add_parts(const struct chunk_state_args *args, const struct backward_space *space,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
