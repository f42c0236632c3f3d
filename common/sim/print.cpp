/* SPDX-License-Identifier: MIT */
/* print.cpp - printf in a kernel: to standard output, or to whom sim_print_to has named.

   In a .cu file printf, puts and putchar are other names for these functions (include/cuda_runtime.h; the compiler
   makes calls of the last two out of plain text). In host code they do what the C library's do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "block.h"

static void (*sink)(unsigned block, unsigned thread, const char *text, void *context);
static void *sink_context;

void sim_print_to(void (*to)(unsigned block, unsigned thread, const char *text, void *context), void *context)
{
    sink = to;
    sink_context = context;
}

/* A NaN has a sign, which x86 sets and a GPU does not: "-nan" becomes "nan", or " nan" where a width has set it off. */
static void unsign_nans(char *text)
{
    for (char *at = text; (at = strstr(at, "-nan")) != NULL; at += 3)
        if (at - text >= 2 && at[-1] == ' ' && at[-2] == ' ')
            at[0] = ' ';
        else
            memmove(at, at + 1, strlen(at));
}

static int print(const char *format, va_list arguments)
{
    char text[2048]; /* what is longer is cut: a GPU's buffer ends, too */

    if (!sim_place.in_thread)
        return vprintf(format, arguments);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    unsign_nans(text);
    if (sink != NULL)
        sink(blockIdx.x, sim_thread_number(sim_current), text, sink_context);
    else
        fputs(text, stdout);
    return length;
}

extern "C" __attribute__((format(printf, 1, 2))) int sim_printf(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = print(format, arguments);
    va_end(arguments);
    return length;
}

extern "C" int sim_puts(const char *text)
{
    return sim_printf("%s\n", text);
}

extern "C" int sim_putchar(int character)
{
    sim_printf("%c", character);
    return character;
}
