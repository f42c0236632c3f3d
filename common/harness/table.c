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

/* What --config gave; the empty text for nothing. */
static const char *config_of(const struct row *row)
{
    return row->config != NULL ? row->config : "";
}

/* ---- columns ---- */

/* Where the arrays are on the device: first what the simulator counts, then what is measured elsewhere, then the error.
   Of the first two the screen shows one, and the CSV has the second. */
enum { COUNTED = 4, OPERATIONS = 8, MEASURED = 11, ON_DEVICE };
static const struct column on_device[ON_DEVICE] = {
    {"blocks", 9, 0, NULL, 0},
    {"threads", 9, 0, NULL, 0},
    {"barriers", 9, 0, NULL, 0},
    {"shuffles", 9, 0, NULL, 0},
    {"ms", 10, 4, "median_ms", 6},
    {NULL, 0, 0, "p20_ms", 6},
    {NULL, 0, 0, "p80_ms", 6},
    {"GB/s", 8, 1, "gb_per_s", 2},
    {"TFLOP/s", 8, 1, "tflop_per_s", 2}, /* where the operation says what it computes */
    {"% copy", 7, 1, "percent_of_copy", 2},
    {"% add", 7, 1, "percent_of_add", 2},
    {"error", 7, 3, "max_error", 4},
};

static double percent(double gb_per_s, double baseline)
{
    return baseline > 0.0 && gb_per_s > 0.0 ? 100.0 * gb_per_s / baseline : NAN;
}

/* Baselines compute nothing that is counted here. */
static double tflop_per_s(const struct row *row)
{
    return row->timed && row->operations > 0.0 ? row->operations * 1e-12 / (row->timing.median_ms * 1e-3) : NAN;
}

/* A row's numbers, NaN where there is none. */
static void values_of(const struct run *run, const struct row *row, double values[MAX_VALUES])
{
    const double gb_per_s = row_gb_per_s(row);
    if (run->operation->placement != NULL) {
        memcpy(values, row->values, sizeof row->values);
        return;
    }
    const double numbers[ON_DEVICE] = {row->counted ? (double)row->blocks : NAN,
                                       row->counted ? (double)row->threads : NAN,
                                       row->counted ? (double)row->barriers : NAN,
                                       row->counted ? (double)row->shuffles : NAN,
                                       row->timed ? row->timing.median_ms : NAN,
                                       row->timed ? row->timing.p20_ms : NAN,
                                       row->timed ? row->timing.p80_ms : NAN,
                                       row->timed ? gb_per_s : NAN,
                                       tflop_per_s(row),
                                       percent(gb_per_s, row->copy_gb_per_s),
                                       percent(gb_per_s, row->add_gb_per_s),
                                       row->checked ? row->max_error : NAN};
    memcpy(values, numbers, sizeof numbers);
}

/* The columns of this run; the first *num_keys belong to a row's key. Returns how many. */
static int columns_of(const struct run *run, const struct column **columns, int *num_keys)
{
    const struct placement *placement = run->operation->placement;
    *columns = placement != NULL ? placement->columns : on_device;
    *num_keys = placement != NULL ? placement->num_keys : 0;
    return placement != NULL ? placement->num_columns : ON_DEVICE;
}

/* Whether a table has this column at all. */
static bool is_there(const struct run *run, int column)
{
    return run->operation->placement != NULL || column != OPERATIONS || run->operation->operations != NULL;
}

static bool is_on_screen(const struct run *run, int column)
{
    if (!is_there(run, column))
        return false;
    if (run->operation->placement != NULL || column >= MEASURED)
        return true;
    return (column < COUNTED) == (run->machine->backend == ON_SIM);
}

/* A number behind `before`: in so many columns a dash where there is none, in the CSV nothing. */
static void print_number(FILE *file, const char *before, int width, int decimals, double number)
{
    if (isnan(number))
        fprintf(file, "%s%*s", before, width, width > 0 ? "-" : "");
    else
        fprintf(file, "%s%*.*f", before, width, decimals, number);
}

/* ---- on the screen ---- */

/* A row; NULL: the head. */
static void print_line(const struct run *run, const struct row *row)
{
    const struct placement *placement = run->operation->placement;
    const struct column *columns;
    double values[MAX_VALUES];
    char variant[256] = "variant";
    int num_keys;
    if (row != NULL)
        snprintf(variant, sizeof variant, "%s%s", row->variant, config_of(row)), values_of(run, row, values);
    if (run->compares)
        printf("%-12s ", row != NULL ? row->chapter : "chapter");
    printf("%-*s %-*s", placement != NULL ? placement->name_width : 14 + run->config_width, variant,
           placement != NULL ? placement->direction_width : 16, row != NULL ? row->direction : "direction");
    for (int s = 0; s < run->operation->num_sizes && placement == NULL; s++) {
        const struct size *size = &run->operation->sizes[s];
        if (row != NULL)
            printf(" %*zu", size_width(size), row->sizes[s]);
        else
            printf(" %*s", size_width(size), size->name);
    }
    const int count = columns_of(run, &columns, &num_keys);
    for (int i = 0; i < count; i++) {
        if (columns[i].title == NULL || !is_on_screen(run, i))
            continue;
        if (row != NULL)
            print_number(stdout, " ", columns[i].width, columns[i].decimals, values[i]);
        else
            printf(" %*s", columns[i].width, columns[i].title);
    }
    printf("\n");
    fflush(stdout);
}

void table_print_head(const struct run *run)
{
    print_line(run, NULL);
}

void table_print_row(const struct run *run, const struct row *row)
{
    print_line(run, row);
}

/* ---- CSV ---- */

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
    if (columns != NULL)
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

/* A row; NULL: the columns' names. */
static void write_line(FILE *file, const struct run *run, const struct row *row)
{
    const struct column *columns;
    double values[MAX_VALUES];
    char key[KEY_TEXT] = "chapter,variant,direction";
    int num_keys;
    if (row != NULL)
        values_of(run, row, values);
    if (run->operation->placement == NULL)
        fputs(row != NULL ? csv_key(run, row, key) : csv_key_columns(run, key), file);
    else if (row != NULL)
        fprintf(file, "%s,%s,%s", row->chapter, row->variant, row->direction);
    else
        fputs(key, file);
    const int count = columns_of(run, &columns, &num_keys);
    for (int i = 0; i < count; i++) {
        if (i == num_keys && row != NULL) {
            fprintf(file, ",%s,", backend_name(run->machine->backend));
            write_name(file, run->machine->device.name);
        } else if (i == num_keys) {
            fputs(",backend,device", file);
        }
        if (columns[i].name == NULL || !is_there(run, i))
            continue;
        if (row != NULL)
            print_number(file, ",", 0, columns[i].csv_decimals, values[i]);
        else
            fprintf(file, ",%s", columns[i].name);
    }
    fputc('\n', file);
}

int csv_write(const char *path, const struct run *run, const struct row *rows, size_t num_rows)
{
    struct output output;
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    if (run->resumed[0] != '\0')
        fprintf(output.file, "# resumed: an interrupted run of %s\n", run->resumed);
    csv_write_head(output.file, run->machine, run->command, NULL);
    write_line(output.file, run, NULL);
    for (const struct row *row = rows; row < rows + num_rows; row++)
        if (row->line != NULL)
            fprintf(output.file, "%s\n", row->line);
        else
            write_line(output.file, run, row);
    return output_commit(&output);
}
