/* options.h - the command line that every chapter's program understands. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "linrec.h"

enum { MAX_LENGTHS = 256 };

struct options {
    bool num_seqs_given;
    size_t num_seqs;
    size_t seq_lens[MAX_LENGTHS];
    int num_seq_lens; /* 0: the default lengths */

    bool forward, reverse, backward; /* as given; none: every direction that the chapter has */
    const char *variant;             /* NULL: all */
    struct linrec_config config;     /* 0: not given */
    uint64_t seed;
    int repeats; /* 0: the default */
    bool check_only, list, resume;
    const char *csv;
    const char *fill, *print; /* make .npy files, or show one, and nothing else */

    const char *inputs, *coeffs, *outputs, *d_outputs, *d_inputs, *d_coeffs; /* .npy files */
    bool arrays;                                                             /* any of them given */
};

/* Reads the command line into *options. Returns -1 to go on, or the status to exit with (0 after --help, 2 after one
   line on stderr that says what is wrong and how to mend it). */
int options_read(int argc, char **argv, const struct linrec_chapter *chapter, struct options *options);

#endif
