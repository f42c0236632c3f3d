/* SPDX-License-Identifier: MIT */
/* table.c - see table.h */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/output.h"
#include "../base/terminal.h"
#include "placement.h"

enum { NUMBER_TEXT = 340, INDENT = 4 }; /* bytes of the longest number; columns before a line that goes on */

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

/* A number as text; where there is none, `missing`. */
static const char *number_text(double number, int decimals, const char *missing, char text[NUMBER_TEXT])
{
    if (isnan(number))
        return missing;
    snprintf(text, NUMBER_TEXT, "%.*f", decimals, number);
    return text;
}

/* ---- on the screen ---- */

/* A line of the table, cell by cell. */
struct line {
    int count;
    struct cell {
        char text[NUMBER_TEXT];
        int width, least; /* columns, and in a narrow table; negative: the text stands at the left */
    } cells[3 + MAX_SIZES + MAX_VALUES];
};

static void add_cell(struct line *line, int width, int least, const char *text)
{
    struct cell *cell = &line->cells[line->count++];
    cell->width = width;
    cell->least = least;
    snprintf(cell->text, sizeof cell->text, "%s", text);
}

/* Where the terminal is narrower than the table, the columns are as narrow as they may be; and where that is not
   enough, each line of the table goes on in the next one, indented. */
static void print_cells(const struct line *line)
{
    const int columns = terminal_columns();
    int needed = -1, used = 0;
    for (int i = 0; i < line->count; i++)
        needed += 1 + abs(line->cells[i].width);
    const bool is_narrow = columns > 0 && needed > columns;
    for (int i = 0; i < line->count; i++) {
        const struct cell *cell = &line->cells[i];
        const int width = is_narrow ? cell->least : cell->width;
        if (is_narrow && used > 0 && used + 1 + abs(width) > columns)
            used = printf("\n%*s", INDENT, "") - 1;
        used += printf("%s%*s", used > 0 ? " " : "", width, cell->text);
    }
    printf("\n");
    fflush(stdout);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* A row; NULL: the head. */
static void print_line(const struct run *run, const struct row *row)
{
    const struct placement *placement = run->operation->placement;
    const int name_width = placement != NULL ? placement->name_width : 14 + run->config_width;
    const int direction_width = placement != NULL ? placement->direction_width : 16;
    const struct column *columns;
    double values[MAX_VALUES];
    char variant[256] = "variant", text[NUMBER_TEXT];
    int num_keys;
    struct line line = {0};
    if (row != NULL)
        snprintf(variant, sizeof variant, "%s%s", row->variant, config_of(row)), values_of(run, row, values);
    if (run->compares)
        add_cell(&line, -12, -12, row != NULL ? row->chapter : "chapter");
    add_cell(&line, -name_width, -name_width, variant);
    add_cell(&line, -direction_width, -(int)strlen("direction"), row != NULL ? row->direction : "direction");
    for (int s = 0; s < run->operation->num_sizes && placement == NULL; s++) {
        const struct size *size = &run->operation->sizes[s];
        snprintf(text, sizeof text, "%zu", row != NULL ? row->sizes[s] : 0);
        add_cell(&line, size_width(size), larger((int)strlen(size->name), 5), row != NULL ? text : size->name);
    }
    const int count = columns_of(run, &columns, &num_keys);
    for (int i = 0; i < count; i++) {
        const struct column *column = &columns[i];
        if (column->title == NULL || !is_on_screen(run, i))
            continue;
        add_cell(&line, column->width,
                 larger((int)strlen(column->title), column->decimals > 1 ? column->decimals + 2 : 6),
                 row != NULL ? number_text(values[i], column->decimals, "-", text) : column->title);
    }
    print_cells(&line);
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
    char key[KEY_TEXT] = "chapter,variant,direction", number[NUMBER_TEXT];
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
        fprintf(file, ",%s",
                row != NULL ? number_text(values[i], columns[i].csv_decimals, "", number) : columns[i].name);
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
