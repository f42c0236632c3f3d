/* SPDX-License-Identifier: MIT */
/* resume.h - the CSV of an interrupted run, so that the next one goes on where it ended. */
#ifndef RESUME_H
#define RESUME_H

#include "table.h"

/* What was read. The rows point into both texts. */
struct resume {
    char *text;       /* cut into lines */
    char *fields;     /* a copy, cut at the commas, too */
    struct row *rows; /* with names, sizes and `line` alone */
    size_t num_rows;
};

/* Reads the CSV at `path`, which need not be there. Rows without a result, or with a wrong one, are left out, and so is
   a last line that is not whole. Sets run->resumed if rows are left. Returns 0, or 2 after one line on stderr if the
   file cannot be read or comes from another command, device, toolkit or driver. */
int resume_read(struct resume *resume, const char *path, struct run *run);
void resume_free(struct resume *resume);

#endif
