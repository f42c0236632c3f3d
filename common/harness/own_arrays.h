/* SPDX-License-Identifier: MIT */
/* own_arrays.h - one kernel on the user's own .npy files. */
#ifndef OWN_ARRAYS_H
#define OWN_ARRAYS_H

#include "arrays.h"
#include "../base/npy.h"
#include "options.h"

struct own_arrays {
    const struct operation *operation;
    enum direction direction;
    enum dtype dtype; /* of the arrays that are `stored` */
    size_t sizes[MAX_SIZES];
    bool leaves_out_first;       /* the files leave out the first dimension, which is then 1 */
    choice chosen;               /* the flags and the optional arrays that were given */
    bool with[MAX_ARRAYS];       /* which arrays of the pass were given */
    struct npy read[MAX_ARRAYS]; /* what the pass reads */
    const char *paths[MAX_ARRAYS];
};

/* The direction that the files and the options ask for. */
enum direction own_arrays_direction(const struct operation *operation, const struct options *options);

/* Reads the files that the options name, and checks that the set is complete, the shapes agree and the outputs can be
   written. Returns 0, or 2 after one line on stderr. */
int own_arrays_read(struct own_arrays *own, const struct operation *operation, const struct options *options);

/* Runs the kernel in the configuration that --config gave, and writes what it computes. Returns 0, 1 when the launch
   failed, or 2 when the kernel does not take it here or a file could not be written. */
int own_arrays_run(struct own_arrays *own, const struct kernel *kernel, const struct launch_config *config,
                   enum backend backend);

void own_arrays_free(struct own_arrays *own);

#endif
