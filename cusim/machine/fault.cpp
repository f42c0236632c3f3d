/* SPDX-License-Identifier: MIT */
/* fault.cpp - a fault is announced, and ends the program. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "announce.h"

struct sim_place sim_place;
volatile uint64_t sim_progress, sim_news;

void sim_say(const char *message)
{
    fflush(stdout);
    fprintf(stderr, "simulator: %s.\n", message);
    _exit(1);
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
