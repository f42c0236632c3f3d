/* report.c - see report.h */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wipes away what report_progress has written last. */
static void wipe_line(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

void report_progress(const struct report *report, const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list values;
    va_start(values, format);
    wipe_line();
    fputs(report->time_left, stderr);
    vfprintf(stderr, format, values);
    va_end(values);
}

void report_failed(struct report *report, const char *format, ...)
{
    va_list values;
    if (++report->num_failed > 3)
        return;
    wipe_line();
    fputs("FAILED ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

static void keep_row(struct report *report, const struct row *row)
{
    struct row *rows = realloc(report->rows, (report->num_rows + 1) * sizeof *rows);
    if (rows == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    report->rows = rows;
    rows[report->num_rows++] = *row;
}

void report_row(struct report *report, const struct row *row)
{
    keep_row(report, row);
    wipe_line();
    table_print_row(&report->run, row);
}

bool report_take_over(struct report *report, enum direction direction, const size_t sizes[MAX_SIZES], size_t expected)
{
    const size_t before = report->num_rows;
    const size_t size = (size_t)report->run.operation->num_sizes * sizeof *sizes;
    if (report->resume.num_rows == 0)
        return false;
    for (size_t i = 0; i < report->resume.num_rows; i++) {
        const struct row *row = &report->resume.rows[i];
        if (strcmp(row->direction, direction_name(direction)) == 0 && memcmp(row->sizes, sizes, size) == 0)
            keep_row(report, row);
    }
    if (report->num_rows - before == expected)
        return true;
    report->num_rows = before;
    return false;
}

void report_work_done(struct report *report, double work, bool ran, bool tell)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!ran) {
        report->all_work -= work;
        return;
    }
    report->work_done += work;
    const double seconds =
        difftime(now.tv_sec, report->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - report->begin.tv_nsec);
    const double left = seconds * (report->all_work / report->work_done - 1.0);
    if (tell)
        snprintf(report->time_left, sizeof report->time_left, "[%3.0f %%, about %d min %02d s left] ",
                 100.0 * report->work_done / report->all_work, (int)(left / 60.0), (int)fmod(left, 60.0));
}

void report_begin(struct report *report, const char *program, uint64_t seed, const char *csv)
{
    const struct place *place = report->run.place;
    char names[CHOICE_TEXT];
    printf("%s on %s (%s, %s), seed %llu\n\n", program, place->device.name, backend_name(place->backend),
           place->toolkit, (unsigned long long)seed);
    if (report->resume.num_rows != 0)
        printf("what an interrupted run has finished stays as it is in %s; remove it to measure all again\n\n", csv);
    if (operation_has_storage(report->run.operation))
        printf("arrays kept in %s\n", storage_name(report->run.storage));
    if (choice_any(report->run.operation) != 0)
        printf("measured with %s; see --with in --help\n",
               choice_text(report->run.operation, report->run.chosen, ',', names));
    if (operation_has_storage(report->run.operation) || choice_any(report->run.operation) != 0)
        printf("\n");
    table_print_head(&report->run);
    clock_gettime(CLOCK_MONOTONIC, &report->begin);
}

int report_end(const struct report *report)
{
    const struct operation *operation = report->run.operation;
    char option[OPTION_TEXT] = "";
    if (report->run.place->backend == ON_SIM)
        printf("\nThe simulator checks results and counts what one launch does; it says nothing about time.\n");
    for (int s = 0; s < operation->num_sizes; s++)
        if (operation->sizes[s].is_list)
            option_of(operation->sizes[s].name, option);
    if (report->num_failed > 3)
        fprintf(stderr, "and %d more; --variant NAME%s%s%s narrows it down\n", report->num_failed - 3,
                *option != '\0' ? " --" : "", option, *option != '\0' ? " L" : "");
    if (report->num_failed != 0) {
        printf("\n%d FAILED\n", report->num_failed);
        return 1;
    }
    if (report->num_checks == 0)
        printf("\nnothing was checked\n");
    else
        printf("\nall %d checks passed\n", report->num_checks);
    return 0;
}

void report_free(struct report *report)
{
    free(report->rows);
    resume_free(&report->resume);
}
