/* harness.h - the one function that a chapter's main.c calls.

   It reads the options, checks every kernel of the chapter against the double-precision oracle, times it, prints the
   table and writes the CSV; or, given .npy files, runs one kernel on the reader's own arrays. `--help` of any program
   lists the options. */
#ifndef HARNESS_H
#define HARNESS_H

#include "linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the program's exit status: 0 all right, 1 a check or a launch failed, 2 usage or input error. */
int harness_main(int argc, char **argv, const struct linrec_chapter *chapter);

#ifdef __cplusplus
}
#endif
#endif
