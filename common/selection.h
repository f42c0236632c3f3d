/* selection.h - which kernels run which shapes: the chapter's tables, and what the options ask of them. */
#ifndef SELECTION_H
#define SELECTION_H

#include "about.h"
#include "harness.h"
#include "options.h"

struct selection {
    const struct chapter *chapter;
    const struct operation *operation;
    const struct options *options;
    const struct place *place;
    struct kernel *kernels; /* those compared with, then the chapter's own */
    int num_kernels;
    bool directions[NUM_DIRECTIONS]; /* that are asked for, and that some kernel runs */
    struct shapes shapes;
};

/* Collects the kernels. *place may be filled in later, before anything is asked about a shape. Returns 0, or 2 after
   one line on stderr: there is not one default, or no memory. */
int selection_collect(struct selection *selection, const struct chapter *chapter, const struct options *options,
                      const struct place *place);
void selection_free(struct selection *selection);

/* Whether the chapter compares itself with others. */
bool selection_compares(const struct selection *selection);

/* --list: a line for each kernel. */
void selection_list(const struct selection *selection);

/* Whether the options leave the kernel in: its name, and all that --config gave. */
bool selection_wants(const struct selection *selection, const struct kernel *kernel);

/* Whether the kernel cannot run here, on this shape; then `why` says the reason, in half a sentence. */
bool selection_refuses(const struct selection *selection, const struct kernel *kernel, const size_t sizes[MAX_SIZES],
                       char *why, size_t size);

/* Whether the kernel is wanted, runs in this direction, and can run this shape here. */
bool selection_runs(const struct selection *selection, const struct kernel *kernel, enum direction direction,
                    const size_t sizes[MAX_SIZES]);

/* Checks variant, shape and direction that were asked for against the tables, and sets selection->directions. `asked`:
   the direction that the options name, alone or with others. Returns 0, or 2 after one line on stderr. */
int selection_check(struct selection *selection, enum direction asked);

/* The default shapes, with what the options say in place of theirs. Every named one must be within the limits of some
   kernel. Returns 0, or 2 after one line. */
int selection_shapes(struct selection *selection);

/* The kernel for the reader's own arrays, or NULL after one line on stderr. */
const struct kernel *selection_for_arrays(const struct selection *selection, enum direction direction,
                                          const size_t sizes[MAX_SIZES]);

#endif
