/* SPDX-License-Identifier: MIT */
/* options.h - the command line of chapter 11's program. It takes no arrays of the user's. */
#ifndef STREAM_OPTIONS_H
#define STREAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_NUMBERS = 32 };

/* What stands behind --seq-len and --piece. */
struct numbers {
    size_t value[MAX_NUMBERS];
    int count;
};

struct stream_options {
    size_t num_seqs;
    struct numbers seq_len, piece;
    size_t memory;      /* bytes of the device that a way may take; 0: what there is */
    bool directions[4]; /* enum direction */
    bool variants[32];  /* rows of the table */
    uint64_t seed;
    int repeats;
    bool check_only;
    const char *csv; /* NULL: none */
    char command[4096];
};

/* Returns -1 to go on, or the status to exit with, after one line on stderr. */
int stream_options_read(int argc, char **argv, struct stream_options *options);

#endif
