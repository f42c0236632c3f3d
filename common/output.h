/* output.h - a file that appears whole or not at all: written beside its place, then renamed. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

struct output {
    FILE *file;
    char *target; /* where it will appear */
    char *beside; /* where it is written until then; NULL: straight to the target, which is no regular file */
};

/* Opens *output for `path`. Returns 0, or 2 after one line on stderr. */
int output_open(struct output *output, const char *path);

/* Puts the file in its place. Returns 0, or 2 after one line on stderr; the target is then as it was before. */
int output_commit(struct output *output);

/* Leaves no trace. Also fine after a failed open and after a commit. */
void output_discard(struct output *output);

/* Says early whether output_open would work, before the long computation whose result it shall hold. */
int output_probe(const char *path);

#endif
