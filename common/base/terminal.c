/* SPDX-License-Identifier: MIT */
/* terminal.c - see terminal.h */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FEWEST_COLUMNS = 40 };

int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < FEWEST_COLUMNS)
        return 0;
    return size.ws_col;
}

/* Open MPI gives each rank a terminal of its own, wherever mpirun's output goes. */
static bool has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && getenv("OMPI_COMM_WORLD_RANK") == NULL && (no_color == NULL || *no_color == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void terminal_verdict(bool is_good, const char *line)
{
    if (has_colour())
        printf("\033[%dm%s\033[0m\n", is_good ? 32 : 31, line);
    else
        printf("%s\n", line);
}
