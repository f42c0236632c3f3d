/* SPDX-License-Identifier: MIT */
/* print.cpp - printf in a kernel: to standard output, or to whom sim_print_to has named.

   In a .cu file printf, puts and putchar are other names for these functions (include/cuda_runtime.h; the compiler
   makes calls of the last two out of plain text). In host code they do what the C library's do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "block.h"
#include "print.h"
#include "fault.h"
#include "announce.h"

static void (*sink)(unsigned block, unsigned thread, const char *text, void *context);
static void *sink_context;

void sim_print_to(void (*to)(unsigned block, unsigned thread, const char *text, void *context), void *context)
{
    sink = to;
    sink_context = context;
}

static FILE *into; /* where it is kept for later, or NULL */

/* What one call prints, as it is kept: this, and the text behind it. */
struct printed {
    uint64_t block; /* its number in the grid */
    unsigned x, thread, length;
};

static void say(unsigned block, unsigned thread, const char *text)
{
    if (sink != NULL)
        sink(block, thread, text, sink_context);
    else
        fputs(text, stdout);
}

FILE *sim_print_file(void)
{
    const int descriptor = memfd_create("printed", MFD_CLOEXEC);
    FILE *const file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");

    if (file != NULL)
        setvbuf(file, NULL, _IONBF, 0); /* a process may end at any time */
    return file;
}

void sim_print_into(FILE *file)
{
    into = file;
}

/* One piece, so that it is written as a whole. */
static void keep(const char *text)
{
    const struct printed p = {blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z),
                              blockIdx.x, sim_thread_number(sim_current), (unsigned)strlen(text)};
    std::string whole((const char *)&p, sizeof(p));

    whole += text;
    fwrite(whole.data(), 1, whole.size(), into);
}

void sim_print_all(FILE **files, unsigned count)
{
    std::vector<std::pair<struct printed, std::string>> all;
    struct printed p;

    for (unsigned i = 0; i < count; i++) {
        rewind(files[i]);
        while (fread(&p, sizeof(p), 1, files[i]) == 1) {
            std::string text(p.length, 0);
            if (fread(&text[0], 1, p.length, files[i]) == p.length)
                all.push_back({p, text});
        }
        fclose(files[i]);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.first.block < b.first.block; });
    for (const auto &one : all)
        say(one.first.x, one.first.thread, one.second.c_str());
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
    sim_tell.printed(text);
    if (into != NULL)
        keep(text);
    else
        say(blockIdx.x, sim_thread_number(sim_current), text);
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
