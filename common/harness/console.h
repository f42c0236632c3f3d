/* SPDX-License-Identifier: MIT */
/* console.h - the words of a run: rows on the screen and for the CSV, failures, how far it is, and the last lines. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <time.h>

#include "resume.h"
#include "table.h"

struct console {
    struct run run;
    struct row *rows;
    size_t num_rows;
    struct resume resume;
    int num_checks, num_failed;
    double all_work, work_done; /* for the time left; the unit does not matter */
    struct timespec begin;
    char time_left[64]; /* printed in front of each line of progress */
};

/* Says what is being done, in a line that the next one, or a row, overwrites. Into a log it writes nothing. */
void console_progress(const struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counts a failure, and prints the first three: one wrong term may fail hundreds of checks. */
void console_failed(struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps a row for the CSV, and prints it. Ends the program if there is no memory. */
void console_row(struct console *console, const struct row *row);

/* Takes over the rows of this direction and shape that an interrupted run has left, if they are `expected` many.
   Returns false if one is missing; then none is taken. */
bool console_take_over(struct console *console, enum direction direction, const size_t sizes[MAX_SIZES],
                       size_t expected);

/* Counts a shape as done. `ran`: it was measured, not skipped, so its time tells how long the others will take. `tell`:
   the lines of progress say how much time is left. */
void console_work_done(struct console *console, double work, bool ran, bool tell);

/* Before the first shape, and after the last one: what was checked. Returns 1 if a check failed, else 0. */
void console_begin(struct console *console, const char *program, uint64_t seed, const char *csv);
int console_end(const struct console *console);

/* The line that says whether all checks passed, alone. */
void console_verdict(const struct console *console);
void console_free(struct console *console);

#endif
