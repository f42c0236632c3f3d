/* SPDX-License-Identifier: MIT */
/* console.c - see console.h */
#include "console.h"

#include "../base/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wipes away what console_progress has written last. */
static void wipe_line(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

void console_progress(const struct console *console, const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list values;
    va_start(values, format);
    wipe_line();
    fputs(console->time_left, stderr);
    vfprintf(stderr, format, values);
    va_end(values);
}

void console_failed(struct console *console, const char *format, ...)
{
    va_list values;
    if (++console->num_failed > 3)
        return;
    wipe_line();
    fputs("FAILED ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

static void keep_row(struct console *console, const struct row *row)
{
    struct row *rows = realloc(console->rows, (console->num_rows + 1) * sizeof *rows);
    if (rows == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    console->rows = rows;
    rows[console->num_rows++] = *row;
}

void console_row(struct console *console, const struct row *row)
{
    keep_row(console, row);
    wipe_line();
    table_print_row(&console->run, row);
}

bool console_take_over(struct console *console, enum direction direction, const size_t sizes[MAX_SIZES],
                       size_t expected)
{
    const size_t before = console->num_rows;
    const size_t size = (size_t)console->run.operation->num_sizes * sizeof *sizes;
    if (console->resume.num_rows == 0)
        return false;
    for (size_t i = 0; i < console->resume.num_rows; i++) {
        const struct row *row = &console->resume.rows[i];
        if (strcmp(row->direction, pass_name(console->run.operation, direction)) == 0 &&
            memcmp(row->sizes, sizes, size) == 0)
            keep_row(console, row);
    }
    if (console->num_rows - before == expected)
        return true;
    console->num_rows = before;
    return false;
}

void console_work_done(struct console *console, double work, bool ran, bool tell)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!ran) {
        console->all_work -= work;
        return;
    }
    console->work_done += work;
    const double seconds =
        difftime(now.tv_sec, console->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - console->begin.tv_nsec);
    const double left = seconds * (console->all_work / console->work_done - 1.0);
    if (tell)
        snprintf(console->time_left, sizeof console->time_left, "[%3.0f %%, about %d min %02d s left] ",
                 100.0 * console->work_done / console->all_work, (int)(left / 60.0), (int)fmod(left, 60.0));
}

void console_begin(struct console *console, const char *program, uint64_t seed, const char *csv)
{
    const struct machine *machine = console->run.machine;
    char names[CHOICE_TEXT];
    printf("%s on %s (%s, %s), seed %llu\n\n", program, machine->device.name, backend_name(machine->backend),
           machine->toolkit, (unsigned long long)seed);
    if (console->resume.num_rows != 0)
        printf("what an interrupted run has finished stays as it is in %s; remove it to measure all again\n\n", csv);
    if (operation_has_dtype(console->run.operation))
        printf("arrays kept in %s\n", dtype_name(console->run.dtype));
    if (choice_is_told(console->run.operation, console->run.chosen))
        printf("measured with %s; see --with in --help\n",
               choice_text(console->run.operation, console->run.chosen, ',', names));
    if (operation_has_dtype(console->run.operation) || choice_is_told(console->run.operation, console->run.chosen))
        printf("\n");
    table_print_head(&console->run);
    clock_gettime(CLOCK_MONOTONIC, &console->begin);
}

void console_verdict(const struct console *console)
{
    char line[64];
    if (console->num_failed == 0 && console->num_checks == 0) {
        printf("nothing was checked\n");
        return;
    }
    if (console->num_failed != 0)
        snprintf(line, sizeof line, "%d FAILED", console->num_failed);
    else
        snprintf(line, sizeof line, "all %d checks passed", console->num_checks);
    terminal_verdict(console->num_failed == 0, line);
}

int console_end(const struct console *console)
{
    const struct operation *operation = console->run.operation;
    char option[OPTION_TEXT] = "";
    if (console->run.machine->backend == ON_SIM)
        printf("\nThe simulator checks results and counts what one launch does; it says nothing about time.\n");
    for (int s = 0; s < operation->num_sizes; s++)
        if (operation->sizes[s].is_list)
            option_of(operation->sizes[s].name, option);
    if (console->num_failed > 3)
        fprintf(stderr, "and %d more; --variant NAME%s%s%s narrows it down\n", console->num_failed - 3,
                *option != '\0' ? " --" : "", option, *option != '\0' ? " L" : "");
    printf("\n");
    console_verdict(console);
    return console->num_failed != 0;
}

void console_free(struct console *console)
{
    free(console->rows);
    resume_free(&console->resume);
}
