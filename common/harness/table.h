/* SPDX-License-Identifier: MIT */
/* table.h - one row per kernel, direction and shape: on the screen for the user, as CSV for the plots. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "machine.h"
#include "choice.h"
#include "measure.h"
#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column of numbers: how it is printed, and its name in the CSV. */
struct column {
    const char *title; /* NULL: in the CSV alone */
    int width, decimals;
    const char *name; /* NULL: on the screen alone */
    int csv_decimals;
};

enum { MAX_VALUES = 16 };

struct row {
    const char *chapter, *variant, *direction;
    const char *config; /* what --config gave, ":threads=256:stages=3", printed behind the variant; NULL: nothing */
    size_t sizes[MAX_SIZES];
    enum dtype dtype; /* of the arrays that are `stored` */
    choice chosen;    /* of what the pass may choose */
    bool timed;       /* else the time columns stay empty */
    struct timing timing;
    double bytes;                       /* that the operation must move */
    double operations;                  /* that it must compute, where that is told; else 0 */
    double copy_gb_per_s, add_gb_per_s; /* of the baselines on the same shape; 0: none */
    bool checked;                       /* else the error column stays empty */
    double max_error;
    bool counted; /* on the simulator, instead of times: what the launch consisted of */
    unsigned long long blocks, threads, barriers, shuffles;
    double values[MAX_VALUES]; /* of a placement's columns, NaN: none; in place of all from `timed` on */
    const char *line;          /* as an earlier run has written it to the CSV; NULL: not from there */
};

/* What the table and the CSV say about the run. */
struct run {
    const struct operation *operation;
    const struct machine *machine;
    const char *command; /* the command line */
    int config_width;    /* characters of the rows' config, for which the table makes room */
    enum dtype dtype;    /* --type */
    choice chosen;       /* flags and optional arrays that are timed, of all passes */
    bool compares;       /* kernels of several chapters: the table says whose */
    char resumed[32];    /* when the run that this one resumes began; empty: none */
};

/* GB/s (1e9 bytes per second) over the median, 0 if it was not timed. */
double row_gb_per_s(const struct row *row);

void table_print_head(const struct run *run);
void table_print_row(const struct run *run, const struct row *row);

/* Writes the top of any CSV: where it comes from, as lines of # (command, date, toolkit, driver), and its columns,
   unless they are NULL. */
void csv_write_head(FILE *file, const struct machine *machine, const char *command, const char *columns);

/* Writes the rows as CSV, whole or not at all. Returns 0, or 2 after one line on stderr. */
int csv_write(const char *path, const struct run *run, const struct row *rows, size_t num_rows);

/* A row's key stands in its first columns: chapter, variant, direction, the operation's sizes, the type of its arrays
   if it has several, and with what it is timed if that is told (choice_is_told): "start+negated". These functions write
   the columns' names, and a row's values, as CSV. They return text. */
enum { KEY_TEXT = 256 + 32 * MAX_SIZES + CHOICE_TEXT };
const char *csv_key_columns(const struct run *run, char text[KEY_TEXT]);
const char *csv_key(const struct run *run, const struct row *row, char text[KEY_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
