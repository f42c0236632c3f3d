/* SPDX-License-Identifier: MIT */
/* print.h - the output of kernels, where several processes run the blocks of a launch (cores.cpp). */
#ifndef SIM_PRINT_H
#define SIM_PRINT_H

#include <stdio.h>

/* A file that processes share, for what is printed; NULL: none can be had. */
FILE *sim_print_file(void);

/* From now on kernels print into that file; NULL: at once. */
void sim_print_into(FILE *file);

/* Prints what is in some files, in the order of the blocks, and closes them. */
void sim_print_all(FILE **files, unsigned count);

#endif
