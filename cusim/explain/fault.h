/* SPDX-License-Identifier: MIT */
/* fault.h - the one line that says what went wrong and where, and what it needs to know for that. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stddef.h>
#include <stdint.h>

/* Where the simulation is: what an error line names (launch.cpp). */
struct sim_place {
    const void *kernel; /* NULL: in host code */
    const char *name;   /* the kernel as the launch spells it */
    const char *file;   /* of the launch */
    int line;
    bool in_block, in_thread; /* blockIdx, threadIdx mean something */
    const char *stack;        /* lowest byte of the thread's stack */
};
extern struct sim_place sim_place;

/* One line on stderr: file:line: kernel, block, thread: message. Exit status 1. */
[[noreturn]] void sim_fault(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The last part of that: prints a message and ends. */
[[noreturn]] void sim_say(const char *message);

/* The same at the line of a return address. */
[[noreturn]] void sim_fault_at(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The source position of a code address, or the address itself where that is unknown. The second function does it for
   many at once, with the names of their functions. */
void sim_locate(const void *address, char *text, size_t size);

/* Whether a source is one of the simulator's, wherever its folder lies. */
bool sim_is_own(const char *path);

/* The file that the program, or the shared library with the simulator in it, was read from, and how far it was moved
   from the addresses that its symbols have. Returns false if that is not known. */
bool sim_find_program(char *file, size_t size, uintptr_t *offset);
struct sim_located {
    const void *address;
    char function[256], place[256];
};
void sim_locate_all(struct sim_located *list, size_t count);

/* While a kernel runs: faults when no thread gets further for CUSIM_WATCHDOG seconds (30) of processor time, or when for
   as long none ends and no global memory is touched for the first time. */
void sim_watchdog(bool on);
extern volatile uint64_t sim_progress; /* changes whenever a thread gets somewhere */
extern volatile uint64_t sim_news;     /* changes when one ends, or touches global memory as none before */

#endif
