/* SPDX-License-Identifier: MIT */
/* fault.cpp - a fault is announced, and ends the program; a remark is announced. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "announce.h"

__thread struct sim_place sim_place;
volatile pthread_t sim_kernel_thread;
struct sim_other sim_other;
bool sim_strict;
volatile uint64_t sim_progress, sim_news;

void sim_end(const char *line)
{
    fflush(stdout);
    fprintf(stderr, "%s.\n", line);
    _exit(1);
}

void sim_say(const char *message)
{
    fputs("simulator: ", stderr);
    sim_end(message);
}

[[noreturn]] static void tell(const char *file, int line, const void *pc, const char *format, va_list arguments)
{
    char text[4096];

    vsnprintf(text, sizeof(text), format, arguments);
    sim_tell.fault(file, line, pc, text);
    sim_say(text);
}

void sim_fault(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(file, line, NULL, format, arguments);
}

void sim_fault_at(const void *pc, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(NULL, 0, pc, format, arguments);
}

static void remark(const char *file, int line, const void *pc, const char *format, va_list arguments)
{
    char text[4096];

    if (sim_strict)
        tell(file, line, pc, format, arguments);
    vsnprintf(text, sizeof(text), format, arguments);
    sim_tell.remark(file, line, pc, text);
}

void sim_remark(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    remark(file, line, NULL, format, arguments);
    va_end(arguments);
}

void sim_remark_at(const void *pc, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    remark(NULL, 0, pc, format, arguments);
    va_end(arguments);
}
