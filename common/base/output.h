/* SPDX-License-Identifier: MIT */
/* output.h - a file that appears whole or not at all: written beside its place, then renamed. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct output {
    FILE *file;
    char *target; /* where it will appear, links resolved */
    char *beside; /* where it is written until then; NULL: straight to the target, which is a pipe or a device */
};

/* Opens *output for `path`. Returns 0, or 2 after one line on stderr. */
int output_open(struct output *output, const char *path);

/* Hands all that was written to the system. Returns 0, or 2 after one line on stderr. */
int output_flush(struct output *output);

/* Flushes, and puts the file in its place, with the permissions of the one that was there. Returns 0, or 2 after one
   line on stderr; the target is then as it was before. */
int output_commit(struct output *output);

/* Leaves no trace. Also fine after a failed open and after a commit. An interrupted program leaves none either. */
void output_discard(struct output *output);

/* Tells before a long computation whether its result can be written. Returns 0, or 2 after one line on stderr. */
int output_probe(const char *path);

/* main calls it once. If standard output could not be written, the program then ends with status 2 and one line on
   stderr. */
void output_watch_stdout(void);

#ifdef __cplusplus
}
#endif
#endif
