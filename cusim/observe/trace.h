/* SPDX-License-Identifier: MIT */
/* trace.h - where the counts go. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdio.h>

#include "../counts.h"

bool sim_traces(void);
bool sim_traces_lanes(void);
void sim_add_counts(struct sim_counts *to, const struct sim_counts *from);
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

/* Prints what programs ask for by CUSIM_REPORT=1, from all rows in order: each kernel before its lines (report.cpp). */
void sim_report(const struct sim_row *rows, size_t count);

/* Below that, how long the kernels would take on the chip that CUSIM_CHIP names: what estimate.pl says of the rows,
   which `print_rows` prints as a trace. It lies where cusim does, or in the course. */
void sim_report_time(void (*print_rows)(FILE *file));

#endif
