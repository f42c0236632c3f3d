/* SPDX-License-Identifier: MIT */
/* terminal.h - what stdout shows on a terminal: how wide that is, and a verdict in green or red. In a file or a pipe
   nothing of this, and no colour where NO_COLOR is set (https://no-color.org) or the terminal has none. Terminal.pm
   does the same in Perl. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* The columns of the terminal; 0 where stdout is none, or a text would not be readable in so few. */
int terminal_columns(void);

/* Prints a line on stdout, green if all is well and red if not. */
void terminal_verdict(bool is_good, const char *line);

#endif
