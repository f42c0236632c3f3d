/* SPDX-License-Identifier: MIT */
/* table.c - see table.h */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/output.h"
#include "placement.h"

double row_gb_per_s(const struct row *row)
{
    return row->timed ? row->bytes * 1e-9 / (row->timing.median_ms * 1e-3) : 0.0;
}

/* Characters of a size's column, and of its values. */
static int size_width(const struct size *size)
{
    const int width = (int)strlen(size->name);
    return width > 8 ? width : 8;
}

/* ---- the columns of a placement ---- */

/* A number behind `before`: in so many columns a dash where there is none, in the CSV nothing. */
static void print_number(FILE *file, const char *before, int width, int decimals, double number)
{
    if (isnan(number))
        fprintf(file, "%s%*s", before, width, width > 0 ? "-" : "");
    else
        fprintf(file, "%s%*.*f", before, width, decimals, number);
}

static void print_columns(const struct placement *placement, const struct row *row)
{
    printf("%-*s %-*s", placement->name_width, row != NULL ? row->variant : "variant", placement->direction_width,
           row != NULL ? row->direction : "direction");
    for (int i = 0; i < placement->num_columns; i++) {
        const struct column *column = &placement->columns[i];
        if (column->title != NULL && row == NULL)
            printf(" %*s", column->width, column->title);
        else if (column->title != NULL)
            print_number(stdout, " ", column->width, column->decimals, row->values[i]);
    }
    printf("\n");
    fflush(stdout);
}

/* The first line of the CSV. */
static void name_columns(const struct placement *placement, char *text)
{
    text += sprintf(text, "chapter,variant,direction");
    for (int i = 0; i < placement->num_columns; i++)
        text += sprintf(text, "%s,%s", i == placement->num_keys ? ",backend,device" : "", placement->columns[i].name);
}

static void write_columns(FILE *file, const struct run *run, const struct row *row)
{
    const struct placement *placement = run->operation->placement;
    fprintf(file, "%s,%s,%s", row->chapter, row->variant, row->direction);
    for (int i = 0; i < placement->num_columns; i++) {
        if (i == placement->num_keys)
            fprintf(file, ",%s,%s", backend_name(run->machine->backend), run->machine->device.name);
        print_number(file, ",", 0, i < placement->num_keys ? 0 : 4, row->values[i]);
    }
    fputc('\n', file);
}

/* ---- all others ---- */

void table_print_head(const struct run *run)
{
    if (run->operation->placement != NULL) {
        print_columns(run->operation->placement, NULL);
        return;
    }
    if (run->compares)
        printf("%-12s ", "chapter");
    printf("%-*s %-16s ", 14 + run->config_width, "variant", "direction");
    for (int s = 0; s < run->operation->num_sizes; s++)
        printf("%*s ", size_width(&run->operation->sizes[s]), run->operation->sizes[s].name);
    if (run->machine->backend == ON_SIM)
        printf("%9s %9s %9s %9s ", "blocks", "threads", "barriers", "shuffles");
    else
        printf("%10s %8s %7s %7s ", "ms", "GB/s", "% copy", "% add");
    printf("%7s\n", "error");
}

/* A percentage of a baseline, or a dash. */
static void print_percent(double gb_per_s, double baseline)
{
    if (baseline > 0.0 && gb_per_s > 0.0)
        printf("%7.1f ", 100.0 * gb_per_s / baseline);
    else
        printf("%7s ", "-");
}

/* What --config gave; the empty text for nothing. */
static const char *config_of(const struct row *row)
{
    return row->config != NULL ? row->config : "";
}

void table_print_row(const struct run *run, const struct row *row)
{
    if (run->operation->placement != NULL) {
        print_columns(run->operation->placement, row);
        return;
    }
    const bool sim = run->machine->backend == ON_SIM;
    if (run->compares)
        printf("%-12s ", row->chapter);
    const int width = printf("%s%s", row->variant, config_of(row));
    const int left = 14 + run->config_width - width;
    printf("%*s %-16s ", left > 0 ? left : 0, "", row->direction);
    for (int s = 0; s < run->operation->num_sizes; s++)
        printf("%*zu ", size_width(&run->operation->sizes[s]), row->sizes[s]);
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

static void write_percent(FILE *file, double gb_per_s, double baseline)
{
    if (baseline > 0.0 && gb_per_s > 0.0)
        fprintf(file, "%.2f", 100.0 * gb_per_s / baseline);
    fputc(',', file);
}

/* A name must not bring in a line, nor a column. */
static void write_name(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(*text == ',' || (unsigned char)*text < ' ' ? ' ' : *text, file);
}

void csv_write_head(FILE *file, const struct machine *machine, const char *command, const char *columns)
{
    const time_t now = time(NULL);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(file, "# command: %s\n# date: %s\n", command, date);
    fprintf(file, "# toolkit: %s\n# driver: %s\n", machine->toolkit, machine->driver);
    fprintf(file, "%s\n", columns);
}

const char *csv_key_columns(const struct run *run, char text[KEY_TEXT])
{
    const struct operation *operation = run->operation;
    int used = sprintf(text, "chapter,variant,direction");
    for (int s = 0; s < operation->num_sizes; s++)
        used += sprintf(text + used, ",%s", operation->sizes[s].name);
    if (operation_has_dtype(operation))
        used += sprintf(text + used, ",type");
    if (choice_is_told(operation, run->chosen))
        sprintf(text + used, ",with");
    return text;
}

const char *csv_key(const struct run *run, const struct row *row, char text[KEY_TEXT])
{
    const struct operation *operation = run->operation;
    const size_t room = 240; /* the rest is the sizes', the type's and the choice's */
    char names[CHOICE_TEXT];
    snprintf(text, room, "%s,%s%s,%s", row->chapter, row->variant, config_of(row), row->direction);
    size_t used = strlen(text);
    for (int s = 0; s < operation->num_sizes; s++)
        used += (size_t)sprintf(text + used, ",%zu", row->sizes[s]);
    if (operation_has_dtype(operation))
        used += (size_t)sprintf(text + used, ",%s", dtype_name(row->dtype));
    if (choice_is_told(operation, run->chosen))
        sprintf(text + used, ",%s", choice_text(operation, row->chosen, '+', names));
    return text;
}

static void write_row(FILE *file, const struct run *run, const struct row *row)
{
    char key[KEY_TEXT];
    if (run->operation->placement != NULL) {
        write_columns(file, run, row);
        return;
    }
    fprintf(file, "%s,", csv_key(run, row, key));
    fprintf(file, "%s,", backend_name(run->machine->backend));
    write_name(file, run->machine->device.name);
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

int csv_write(const char *path, const struct run *run, const struct row *rows, size_t num_rows)
{
    struct output output;
    char columns[KEY_TEXT + 128];
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    if (run->resumed[0] != '\0')
        fprintf(output.file, "# resumed: an interrupted run of %s\n", run->resumed);
    if (run->operation->placement != NULL) {
        name_columns(run->operation->placement, columns);
    } else {
        csv_key_columns(run, columns);
        strcat(columns, ",backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error");
    }
    csv_write_head(output.file, run->machine, run->command, columns);
    for (const struct row *row = rows; row < rows + num_rows; row++)
        if (row->line != NULL)
            fprintf(output.file, "%s\n", row->line);
        else
            write_row(output.file, run, row);
    return output_commit(&output);
}
