/* SPDX-License-Identifier: MIT */
/* options.h - the command line that every chapter's program understands. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "choice.h"
#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_LIST = 256 };

struct options {
    char *command; /* the whole command line, as one line of text */

    bool size_given[MAX_SIZES];
    size_t sizes[MAX_SIZES]; /* what was given */
    size_t list[MAX_LIST];   /* of the size that takes a list; its `sizes` is the first of these */
    int num_list;
    size_t pieces[MAX_LIST + 1]; /* of the option that a placement has for them, with a 0 behind them */
    int num_pieces;

    enum dtype dtype; /* FLOAT32 unless --type names another */
    bool flag_given[MAX_FLAGS];
    choice flags;     /* those that were given */
    const char *with; /* as given; NULL: what the operation is timed with */
    choice chosen;    /* what it names */

    bool forward, reverse, backward; /* as given; none: every direction that the chapter has */
    const char *variant;             /* a name, or several with commas between them; NULL: all */
    struct launch_config config;     /* 0: not given */
    uint64_t seed;
    int repeats; /* 0: the default */
    bool check_only, list_kernels, resume;
    const char *csv;
    const char *fill, *print; /* make .npy files, or show one, and nothing else */

    const char *files[MAX_ARRAYS]; /* the .npy file of each array; NULL: not given */
    bool any_file;
};

/* Reads the command line of a program into *options: the options of every program, and those of the operation's sizes,
   flags and arrays. Returns -1 to go on, or the status to exit with (0 after --help, 2 after one line on stderr that
   says what is wrong and how to mend it). */
int options_read(int argc, char **argv, const char *program, const struct operation *operation,
                 struct options *options);

#ifdef __cplusplus
}
#endif
#endif
