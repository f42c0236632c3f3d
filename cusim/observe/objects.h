/* SPDX-License-Identifier: MIT */
/* objects.h - objects with virtual functions, for observe.cpp. */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include <stddef.h>

struct sim_region;

/* A kernel reads a pointer there that leads to the program's own data. */
void sim_hosts_pointer(const struct sim_region *r, const char *at);

/* The last such pointer that no kernel has stored; and a thread reads what lies there, or a little behind it. */
extern const char *sim_hosts_table;
enum { SIM_TABLE = 1024 }; /* bytes of a table of functions, at the most */
void sim_reads_table(const char *at, const void *pc);

#endif
