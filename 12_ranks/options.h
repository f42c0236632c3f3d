/* SPDX-License-Identifier: MIT */
/* options.h - the command line of chapter 12's program. It takes no arrays of the user's: no rank has a whole one. */
#ifndef RANKS_OPTIONS_H
#define RANKS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LENGTHS = 64 };

/* Plain data, which one rank reads and MPI hands to all. */
struct ranks_options {
    size_t num_seqs, seq_len[MAX_LENGTHS];
    int num_lengths;
    bool directions[4]; /* enum direction */
    int way;            /* a row of the table; -1: all */
    uint64_t seed;
    int repeats;
    bool check_only;
    char csv[4096]; /* "": none */
    char command[4096];
};

/* Returns -1 to go on, or the status to exit with, after one line on stderr. */
int ranks_options_read(int argc, char **argv, struct ranks_options *options);

#endif
