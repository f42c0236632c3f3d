/* SPDX-License-Identifier: MIT */
/* array_files.h - making and showing .npy files, for users without NumPy. */
#ifndef ARRAY_FILES_H
#define ARRAY_FILES_H

#include "options.h"

/* --fill: writes every array file that the options name. Returns 0, or 2 after one line on stderr. */
int array_files_fill(const struct operation *operation, const struct options *options);

/* --print: prints a file's values, each row (along the last dimension) on a line. Returns 0, or 2 after one line on
   stderr. */
int array_files_print(const char *path);

#endif
