/* SPDX-License-Identifier: MIT */
/* layer_parts.h - gradients of the layer that belong to many blocks. A block has some rows of a head's state; it leaves
   its part of each such sum in the workspace, and a second launch adds the parts up, always in the same order
   (layer_parts.cu). */
#ifndef LAYER_PARTS_H
#define LAYER_PARTS_H

#include "../operation/layer_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step's sums over a block's rows, as layer_arguments.h names them: r, x . G B, and x . d_y. */
struct layer_step_part {
    float r, gb, d_D;
};

struct layer_parts {
    size_t parts;                  /* blocks of a head */
    float *d_B, *d_C;              /* (batch, seq_len, heads, parts, dk) */
    struct layer_step_part *steps; /* (batch, seq_len, heads, parts) */
};

/* Bytes that they take, a multiple of 16, and where they are in a workspace that begins with them. */
size_t layer_parts_size(const struct layer_args *args, size_t parts);
struct layer_parts layer_parts_at(const struct layer_args *args, size_t parts);

/* Writes d_B, d_C, d_dt, d_A, d_D and d_dt_bias. Returns the launches' error; does not wait. */
cudaError_t layer_add_parts(const struct layer_backward_args *args, const struct layer_parts *parts,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
