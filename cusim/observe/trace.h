/* SPDX-License-Identifier: MIT */
/* trace.h - the counts of kernels and of their lines, added up for reports, traces and the program. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdio.h>

#include "../counts.h"

bool sim_traces(void);
bool sim_traces_lanes(void);
void sim_trace_add(const void *kernel, const void *pc, const struct sim_counts *counts); /* pc: NULL for the kernel */
void sim_trace_lane(const void *kernel, const void *pc, const char *kind, unsigned number, unsigned lane, size_t offset,
                    unsigned size);
void sim_trace_reset(void);

/* The counts of a kernel, or of one of its lines. */
struct sim_row {
    unsigned label;          /* 0: none */
    const void *kernel, *pc; /* pc: NULL for the whole kernel */
    struct sim_counts counts;
    char place[256], function[256]; /* of pc, and the kernel's name, once they are known */
};

/* What is to be told of all rows when the program ends, in order: each kernel before its lines. `print` prints them
   as a trace. (explain/report.cpp) */
typedef void sim_reporter(const struct sim_row *rows, size_t count, void (*print)(FILE *file));
void sim_report_by(sim_reporter *reporter);

#endif
