/* table.c - see table.h */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"

double row_gb_per_s(const struct row *row)
{
    return row->timed ? row->bytes * 1e-9 / (row->timing.median_ms * 1e-3) : 0.0;
}

void table_print_head(const struct run *run)
{
    const bool sim = strcmp(run->backend, "sim") == 0;
    if (run->compares)
        printf("%-12s ", "chapter");
    printf("%-*s %-16s %8s %8s ", 14 + run->shape_width, "variant", "direction", "num_seqs", "seq_len");
    if (sim)
        printf("%9s %9s %9s %9s ", "blocks", "threads", "barriers", "shuffles");
    else
        printf("%10s %8s %7s %7s ", "ms", "GB/s", "% copy", "% add");
    printf("%7s\n", "error");
}

/* A percentage of a yardstick, or a dash. */
static void print_percent(double gb_per_s, double yardstick)
{
    if (yardstick > 0.0 && gb_per_s > 0.0)
        printf("%7.1f ", 100.0 * gb_per_s / yardstick);
    else
        printf("%7s ", "-");
}

/* What --config gave; the empty text for nothing. */
static const char *shape_of(const struct row *row)
{
    return row->shape != NULL ? row->shape : "";
}

void table_print_row(const struct run *run, const struct row *row)
{
    const bool sim = strcmp(run->backend, "sim") == 0;
    if (run->compares)
        printf("%-12s ", row->chapter);
    const int width = printf("%s%s", row->variant, shape_of(row));
    const int left = 14 + run->shape_width - width;
    printf("%*s %-16s %8zu %8zu ", left > 0 ? left : 0, "", row->direction, row->num_seqs, row->seq_len);
    if (sim && row->counted)
        printf("%9llu %9llu %9llu %9llu ", row->blocks, row->threads, row->barriers, row->shuffles);
    else if (sim)
        printf("%9s %9s %9s %9s ", "-", "-", "-", "-");
    else if (row->timed)
        printf("%10.4f %8.1f ", row->timing.median_ms, row_gb_per_s(row));
    else
        printf("%10s %8s ", "-", "-");
    if (!sim) {
        print_percent(row_gb_per_s(row), row->copy_gb_per_s);
        print_percent(row_gb_per_s(row), row->add_gb_per_s);
    }
    if (row->checked)
        printf("%7.3f\n", row->max_error);
    else
        printf("%7s\n", "-");
    fflush(stdout);
}

static void write_percent(FILE *file, double gb_per_s, double yardstick)
{
    if (yardstick > 0.0 && gb_per_s > 0.0)
        fprintf(file, "%.2f", 100.0 * gb_per_s / yardstick);
    fputc(',', file);
}

/* A name must not bring in a line, nor (separator) a column. */
static void write_text(FILE *file, const char *text, char separator)
{
    for (; *text != '\0'; text++)
        fputc(*text == separator || (unsigned char)*text < ' ' ? ' ' : *text, file);
}

char *table_command(const struct run *run)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; file != NULL && i < run->argc; i++) {
        fputs(i == 0 ? "" : " ", file);
        write_text(file, run->argv[i], '\0');
    }
    return file != NULL && fclose(file) == 0 ? text : NULL;
}

void table_write_origin(FILE *file, const struct run *run)
{
    const time_t now = time(NULL);
    char date[32], *command = table_command(run);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(file, "# command: %s\n# date: %s\n", command != NULL ? command : run->argv[0], date);
    fprintf(file, "# toolkit: %s\n# driver: %s\n", run->toolkit, run->driver);
    free(command);
}

int table_write_csv(const char *path, const struct run *run, const struct row *rows, size_t num_rows)
{
    struct output output;
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    FILE *file = output.file;

    table_write_origin(file, run);
    if (run->resumed[0] != '\0')
        fprintf(file, "# resumed: an interrupted run of %s\n", run->resumed);
    fprintf(file, "chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,"
                  "percent_of_copy,percent_of_add,max_error\n");
    for (const struct row *row = rows; row < rows + num_rows; row++) {
        if (row->line != NULL) {
            fprintf(file, "%s\n", row->line);
            continue;
        }
        fprintf(file, "%s,%s%s,%s,%zu,%zu,%s,", row->chapter, row->variant, shape_of(row), row->direction,
                row->num_seqs, row->seq_len, run->backend);
        write_text(file, run->device, ',');
        fputc(',', file);
        if (row->timed)
            fprintf(file, "%.6f,%.6f,%.6f,%.2f,", row->timing.median_ms, row->timing.p20_ms, row->timing.p80_ms,
                    row_gb_per_s(row));
        else
            fprintf(file, ",,,,");
        write_percent(file, row_gb_per_s(row), row->copy_gb_per_s);
        write_percent(file, row_gb_per_s(row), row->add_gb_per_s);
        if (row->checked)
            fprintf(file, "%.4f", row->max_error);
        fputc('\n', file);
    }
    return output_commit(&output);
}
