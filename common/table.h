/* table.h - one row per kernel, direction and shape: on the screen for the reader, as CSV for the plots. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "measure.h"

struct row {
    const char *chapter, *variant, *direction;
    const char *shape; /* what --config gave, ":threads=256:stages=3", printed behind the variant; NULL: nothing */
    size_t num_seqs, seq_len;
    bool timed; /* else the time columns stay empty */
    struct timing timing;
    double bytes;                       /* that the operation must move */
    double copy_gb_per_s, add_gb_per_s; /* of the yardsticks on the same shape; 0: none */
    bool checked;                       /* else the error column stays empty */
    double max_error;
    bool counted; /* on the simulator, instead of times: what the launch consisted of */
    unsigned long long blocks, threads, barriers, shuffles;
    const char *line; /* as an earlier run has written it to the CSV; NULL: not from there */
};

/* What the CSV says about the run. */
struct run {
    const char *backend; /* "cuda", "sim" or "cpu" */
    const char *device;
    int shape_width;  /* characters of the rows' shape, for which the table makes room */
    bool compares;    /* kernels of several chapters: the table says whose */
    char resumed[32]; /* when the run that this one resumes began; empty: none */
    char toolkit[256], driver[64];
    int argc;
    char **argv;
};

/* GB/s (1e9 bytes per second) over the median, 0 if it was not timed. */
double row_gb_per_s(const struct row *row);

void table_print_head(const struct run *run);
void table_print_row(const struct run *run, const struct row *row);

/* The command line as the CSV shows it, to be freed. NULL without memory. */
char *table_command(const struct run *run);

/* Writes where a CSV comes from, the lines of # on its top: command, date, toolkit, driver. */
void table_write_origin(FILE *file, const struct run *run);

/* Writes the rows as CSV, whole or not at all. Returns 0, or 2 after one line on stderr. */
int table_write_csv(const char *path, const struct run *run, const struct row *rows, size_t num_rows);

#endif
