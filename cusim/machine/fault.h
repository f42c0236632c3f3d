/* SPDX-License-Identifier: MIT */
/* fault.h - findings: a fault, which ends the program, or a remark, which is told at its end. What is wrong, and where
   the simulation was; explain/finding.cpp makes one line of it. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "announce.h"

/* Of a variable that each access of a kernel looks at, and each host thread has its own: found without a call, also
   where the simulator is part of a shared library. */
#define SIM_OFTEN __attribute__((tls_model("initial-exec")))

/* Where the simulation is: what an error line names. */
struct sim_place {
    const void *kernel; /* NULL: in host code */
    const char *name;   /* the kernel as the launch spells it */
    const char *file;   /* of the launch */
    int line;
    bool in_block, in_thread; /* blockIdx, threadIdx mean something */
    const char *stack;        /* lowest byte of the thread's stack */
};
/* Each host thread has one of its own; it is empty in those that run no kernel. */
extern __thread struct sim_place sim_place SIM_OFTEN;

/* The host thread that runs a kernel. 0: none does */
extern volatile pthread_t sim_kernel_thread;

/* The other access of a race, for those who read findings by machine: who finds one sets it. */
struct sim_other {
    const void *pc; /* NULL: none */
    bool in_block;  /* block and thread mean something */
    unsigned block[3], thread[3];
};
extern struct sim_other sim_other;

extern bool sim_strict; /* CUSIM_CHECKS=strict: a remark is a fault, too */

/* One line on stderr: file:line: error: kernel, block, thread: message. Exit status 1. */
[[noreturn]] void sim_fault(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same at the line of a return address. */
[[noreturn]] void sim_fault_at(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A remark: a habit that is worth a word, though no result is wrong. Said once for each line and text, when the
   program ends, as file:line: remark: kernel, block, thread: message. The exit status stays the program's own. */
void sim_remark(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sim_remark_at(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last part of a fault: prints this line and ends. And a line that is about the simulator itself. */
[[noreturn]] void sim_end(const char *line);
[[noreturn]] void sim_say(const char *message);

extern volatile uint64_t sim_progress; /* changes whenever a thread gets somewhere */
extern volatile uint64_t sim_news;     /* changes when one ends, or touches global memory as none before */

/* For messages (explain/describe.cpp): the bytes of [address, address + length), "inputs[1]", "inputs[4] to inputs[7],
   past the end (the last is inputs[5])", "byte 4 of the 1600-byte allocation made at scale.cu:40"; length 0: where it
   begins. And the name of the whole: "the array inputs". */
static inline void sim_region_describe(const void *address, size_t length, char *text, size_t size)
{
    *text = '\0';
    sim_tell.describe(address, length, text, size);
}

static inline void sim_region_name(const struct sim_region *region, char *text, size_t size)
{
    *text = '\0';
    sim_tell.name_region(region, text, size);
}

#endif
