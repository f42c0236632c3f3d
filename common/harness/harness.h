/* SPDX-License-Identifier: MIT */
/* harness.h - the one function that a chapter's main.c calls.

   It reads the options, checks every kernel of the chapter against the operation's oracle, times it, prints the table
   and writes the CSV; or, given .npy files, runs one kernel on the user's own arrays. `--help` of any program lists
   the options. */
#ifndef HARNESS_H
#define HARNESS_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An earlier chapter's kernels, to compare with. */
struct compared {
    const char *chapter;     /* its name, which then stands in front of its kernels' names: "CHAPTER/default" */
    const void *kernels;     /* its table, of the same operation */
    const char *variants[8]; /* only these; none: all */
};

/* A chapter: what its main.c hands to the harness. */
struct chapter {
    const char *name; /* its folder */
    const struct operation *operation;
    const void *kernels; /* its table, of the operation's own type */
    bool on_cpu;         /* plain C on host memory: timed on the CPU for real */

    /* What it compares itself with; none: nothing. If its own table has no default, the last of these gives it. Then
       the table says whose each row is, launches that take long are repeated less often, and the time left is told. */
    struct compared compares_with[16];

    /* The shapes that it takes without options. NULL: the operation's. */
    void (*default_shapes)(const struct machine *machine, struct shapes *shapes);
};

/* Returns the program's exit status: 0 all right, 1 a check or a launch failed, 2 usage or input error. */
int harness_main(int argc, char **argv, const struct chapter *chapter);

#ifdef __cplusplus
}
#endif
#endif
