/* SPDX-License-Identifier: MIT */
/* command_line.h - for programs with options of their own: reading a number, which directions are asked for, and what
   was typed. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a number in [least, most]. Returns what follows it, NULL if there is none. */
const char *read_number(const char *text, unsigned long long least, unsigned long long most,
                        unsigned long long *number);

/* Which of the four (enum direction) --forward, --reverse and --backward ask for: without any, all of them. Returns -1,
   or 2, the status to end with, after a sentence. */
int choose_directions(bool forward, bool reverse, bool backward, bool directions[4]);

/* The words with a blank between, as many as fit into `size` bytes. */
void command_text(int argc, char **argv, char *text, size_t size);

#endif
