/* SPDX-License-Identifier: MIT */
/* demo.h - shared by the demos: the command line, the worst of several errors, and the output file. */
#ifndef DEMO_H
#define DEMO_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../common/base/output.h"
#include "../../common/harness/table.h"

/* Handles the command line `demo [FILE]`. Returns FILE, or default_path if it is missing. A demo that writes no file
   passes NULL and takes no argument. --help prints usage and ends the program; anything else is refused. */
static inline const char *demo_path(int argc, char **argv, const char *usage, const char *default_path)
{
    const int most = default_path ? 2 : 1;
    output_watch_stdout();

    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        printf("usage: %s %s\n", argv[0], usage);
        exit(0);
    }
    if (argc > most || (argc > 1 && (argv[1][0] == '-' || argv[1][0] == '\0'))) {
        fprintf(stderr, "%s: cannot take '%s'; usage: %s %s\n", argv[0], argv[argc > most ? most : 1], argv[0], usage);
        exit(2);
    }
    return argc > 1 ? argv[1] : default_path;
}

/* The larger of two errors. A NaN counts as larger than anything, and stays. */
static inline double demo_worse(double worst, double error)
{
    if (isnan(worst))
        return worst;
    return error <= worst ? worst : error;
}

/* Opens the file (../../common/base/output.h: it appears whole or not at all). Its first lines say where the numbers
   come from, and the columns. Returns 0, or 2 after one line on stderr. */
static inline int demo_open(struct output *output, const char *path, const char *command, const char *columns)
{
    struct machine machine;

    if (strncmp(path, "results/", 8) == 0)
        mkdir("results", 0777); /* if it is there already, all the better */
    int status = machine_find(true, &machine);
    if (status == 0)
        status = output_open(output, path);
    if (status != 0)
        return status;
    fprintf(output->file, "# cpu: %s\n", machine.device.name);
    csv_write_head(output->file, &machine, command, columns);
    return 0;
}

/* Puts the file in its place and says so. Returns 0, or 2 after one line on stderr. */
static inline int demo_close(struct output *output, const char *path)
{
    const int status = output_commit(output);
    if (status == 0)
        printf("written: %s\n", path);
    return status;
}

#endif
