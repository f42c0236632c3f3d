/* SPDX-License-Identifier: MIT */
/* demo_table.h - the table that a demo prints: a line for each of its launches, with what the simulator has counted, or
   on a GPU with how long it took. A trace (CUSIM_TRACE) has the lines' names for variants. Each function ends the
   program with a sentence when something fails. */
#ifndef DEMO_TABLE_H
#define DEMO_TABLE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the head. `columns`: names of counts between blanks, which stand in demo_table.c, for example "loads lanes";
   they are kept, not copied. The program's arguments: none, or on a GPU a FILE.csv for the times. */
void demo_begin(int argc, char **argv, const char *columns);

/* Launches, waits, and prints a line. On a GPU it launches some more times, for the median: each launch must begin with
   all that it needs. */
void demo_row(const char *name, cudaError_t (*launch)(void));

/* Completes the file, if there is one. Returns what main returns. */
int demo_end(void);

/* Ends the program with a sentence if `error` is one. */
void demo_stop_if(cudaError_t error, const char *what);

#ifdef __cplusplus
}
#endif
#endif
