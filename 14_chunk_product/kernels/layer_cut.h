/* SPDX-License-Identifier: MIT */
/* layer_cut.h - how all steps are cut into stretches, of which each block has one. A stretch is a number of whole
   chunks from its sequence's first step on, so no chunk has steps of two sequences. */
#ifndef LAYER_CUT_H
#define LAYER_CUT_H

#include "../operation/layer_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block has a chunk of so many steps at once, and so many rows of a head's state; and a GPU is taken to hold so many
   blocks (layer_cut.c). */
enum { LAYER_CHUNK = 64, LAYER_ROWS = 64, LAYER_BLOCKS = 256 };

/* The stretches of a sequence have numbers that follow each other (stretch.cuh). All have `len` steps, but for the
   sequence's last one, which has what is left. */
struct layer_cut {
    size_t len, count; /* steps of a stretch, and the numbers of stretches are below count */
    float *states;     /* (count, heads, dv, dk): the state that leaves a stretch, but for a sequence's last one */
    float *decays;     /* (count, heads): by how much that state decays from the stretch's begin to its end */
};

/* Each sequence is one stretch. */
struct layer_cut layer_uncut(const struct layer_args *args);

/* As many stretches as give a whole GPU something to do (layer_cut.c says why so many), or stretches of config.rows
   chunks, if that was given. Their states lie in the
   workspace, of so many bytes, for which `starts` are not looked at. */
struct layer_cut layer_cut(const struct layer_args *args);
size_t layer_cut_workspace(const struct layer_args *args);

/* How many blocks a sequence has at the same time: one for each head and each LAYER_ROWS rows of its state. */
size_t layer_blocks_of_sequence(const struct layer_args *args);

#ifdef __cplusplus
}
#endif
#endif
