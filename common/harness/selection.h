/* SPDX-License-Identifier: MIT */
/* selection.h - the kernels that run, and their shapes: the chapter's tables, and what the options ask of them. */
#ifndef SELECTION_H
#define SELECTION_H

#include "machine.h"
#include "choice.h"
#include "harness.h"
#include "options.h"

struct selection {
    const struct chapter *chapter;
    const struct operation *operation;
    const struct options *options;
    const struct machine *machine;
    choice chosen;          /* flags and optional arrays that are timed, of all passes */
    struct kernel *kernels; /* those compared with, then the chapter's own */
    int num_kernels;
    bool directions[NUM_DIRECTIONS]; /* those that are asked for and that some kernel runs */
    struct shapes shapes;
    bool shapes_named; /* the user has named a size of their own; else they are the default ones */
};

/* Collects the kernels. *machine may be filled in later, before anything is asked about a shape. Returns 0, or 2 after
   one line on stderr if there is no default kernel, more than one, or no memory. */
int selection_collect(struct selection *selection, const struct chapter *chapter, const struct options *options,
                      const struct machine *machine);
void selection_free(struct selection *selection);

/* Whether the chapter compares itself with others. */
bool selection_compares(const struct selection *selection);

/* --list: a line for each kernel. */
void selection_list(const struct selection *selection);

/* Whether --variant and --config leave the kernel in. */
bool selection_wants(const struct selection *selection, const struct kernel *kernel);

/* Whether the kernel cannot run here, on this shape; then `why` says the reason, in half a sentence. */
bool selection_refuses(const struct selection *selection, const struct kernel *kernel, const size_t sizes[MAX_SIZES],
                       char *why, size_t size);

/* Whether the kernel is wanted, runs in this direction, and can run this shape here. */
bool selection_runs(const struct selection *selection, const struct kernel *kernel, enum direction direction,
                    const size_t sizes[MAX_SIZES]);

/* Checks that some kernel has the variant, the --config and the direction that were asked for, and sets
   selection->directions. `asked`: the direction that the options name. Returns 0, or 2 after one line on stderr. */
int selection_check(struct selection *selection, enum direction asked);

/* Sets selection->shapes: the default ones, with the sizes that the options give in place of theirs. Each that is given
   must be within the limits of some kernel. Returns 0, or 2 after one line on stderr. */
int selection_shapes(struct selection *selection);

/* The kernel for the user's own arrays, or NULL after one line on stderr. */
const struct kernel *selection_for_arrays(const struct selection *selection, enum direction direction,
                                          const size_t sizes[MAX_SIZES]);

#endif
