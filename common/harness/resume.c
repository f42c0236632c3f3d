/* SPDX-License-Identifier: MIT */
/* resume.c - see resume.h */
#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

enum { MAX_COLUMNS = 64, NUM_KEYS = 3 };

/* Where the columns that are looked at stand in this file. */
struct columns {
    int count; /* of all columns */
    int chapter, variant, direction, device, median_ms, max_error;
    int sizes[MAX_SIZES];
};

/* All of the file with a zero behind it. NULL if it is not there or cannot be read; errno says why. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 1;
    bool failed = file == NULL;
    while (!failed && got != 0) {
        char *larger = realloc(text, size + 65536 + 1);
        if (larger != NULL) {
            text = larger;
            got = fread(text + size, 1, 65536, file);
            size += got;
            text[size] = '\0';
        }
        failed = larger == NULL || ferror(file);
    }
    const int error = errno;
    if (file != NULL)
        fclose(file);
    if (!failed)
        return text;
    free(text);
    errno = error;
    return NULL;
}

/* Cuts a copy of the line at its commas. Returns the number of fields. */
static int split(char *line, char *fields[MAX_COLUMNS])
{
    int count = 0;
    for (char *field; (field = strsep(&line, ",")) != NULL; count++)
        if (count < MAX_COLUMNS)
            fields[count] = field;
    return count;
}

/* The number of the column of this name, -1 if there is none. */
static int column(char *const fields[MAX_COLUMNS], int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(fields[i], name) != 0)
        i++;
    return i < count ? i : -1;
}

/* Finds the columns by their names in a copy of the head line. Returns false if one is missing. */
static bool find_columns(char *head, const struct operation *operation, struct columns *columns)
{
    char *fields[MAX_COLUMNS];
    const struct {
        const char *name;
        int *to;
    } wanted[] = {{"chapter", &columns->chapter},     {"variant", &columns->variant},
                  {"direction", &columns->direction}, {"device", &columns->device},
                  {"median_ms", &columns->median_ms}, {"max_error", &columns->max_error}};
    const int count = split(head, fields);
    bool found = count <= MAX_COLUMNS;
    columns->count = count;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && found; i++)
        found = (*wanted[i].to = column(fields, count, wanted[i].name)) >= 0;
    for (int s = 0; s < operation->num_sizes && found; s++)
        found = (columns->sizes[s] = column(fields, count, operation->sizes[s].name)) >= 0;
    return found;
}

/* Whether a field names this device. The CSV has blanks where the name has commas. */
static bool same_device(const char *field, const char *device)
{
    for (; *field != '\0' && (*field == *device || (*field == ' ' && *device == ',')); field++)
        device++;
    return *field == *device;
}

/* Reads one row; `copy` is a copy of the line that the row may point into. Returns false for one that is to be run
   again. */
static bool read_row(const char *line, char *copy, const struct columns *columns, const struct run *run,
                     struct row *row, const char **device)
{
    char *fields[MAX_COLUMNS];
    if (split(copy, fields) != columns->count)
        return false;
    const char *error = fields[columns->max_error];
    if ((*fields[columns->median_ms] == '\0' && run->machine->backend != ON_SIM) ||
        (*error != '\0' && !(strtod(error, NULL) <= 1.0)))
        return false;
    *device = fields[columns->device];
    *row = (struct row){.chapter = fields[columns->chapter],
                        .variant = fields[columns->variant],
                        .direction = fields[columns->direction],
                        .line = line};
    for (int s = 0; s < run->operation->num_sizes; s++)
        row->sizes[s] = (size_t)strtoull(fields[columns->sizes[s]], NULL, 10);
    return true;
}

static int other_run(const char *path, const char *what, const char *was, const char *is)
{
    return usage_error("%s comes from another run (%s \"%s\", not \"%s\"); remove it, or name another file", path, what,
                       was, is);
}

/* "# key: value": the value, else NULL. */
static const char *header_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(line, "# ", 2) == 0 && strncmp(line + 2, key, length) == 0 &&
                   strncmp(line + 2 + length, ": ", 2) == 0
               ? line + 2 + length + 2
               : NULL;
}

/* Whether a line of the header names what this run has, too: its command, toolkit and driver. Counts those that it
   finds in *known. Returns 0, or 2 after one line. */
static int check_header(const char *path, const char *line, const struct run *run, int *known)
{
    const char *const keys[] = {"command", "toolkit", "driver"};
    const char *const mine[] = {run->command, run->machine->toolkit, run->machine->driver};
    for (int i = 0; i < NUM_KEYS; i++) {
        const char *was = header_value(line, keys[i]);
        *known += was != NULL;
        if (was != NULL && strcmp(was, mine[i]) != 0)
            return other_run(path, keys[i], was, mine[i]);
    }
    return 0;
}

/* Gives *resume the file's text, a copy to be cut into fields, and room for a row a line. Ends the program if there is
   no memory. */
static void take_text(struct resume *resume, char *text)
{
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    resume->text = text;
    resume->fields = strdup(text);
    resume->rows = calloc(lines, sizeof *resume->rows);
    if (resume->fields == NULL || resume->rows == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
}

int resume_read(struct resume *resume, const char *path, struct run *run)
{
    char *text = read_text(path);
    const char *date = "";
    struct columns columns;
    bool in_header = true, has_columns = false; /* the header ends with the line of the columns' names */
    int status = 0, known = 0;

    memset(resume, 0, sizeof *resume);
    if (text == NULL)
        return errno == ENOENT ? 0 : usage_error("%s: cannot read: %s; name another file", path, strerror(errno));
    const bool is_empty = *text == '\0';
    take_text(resume, text);
    for (char *line = text, *end; status == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *fields = resume->fields + (line - text);
        *end = '\0';
        resume->fields[end - text] = '\0';
        if (in_header && *line == '#') {
            status = check_header(path, line, run, &known);
            date = header_value(line, "date") != NULL ? header_value(line, "date") : date;
        } else if (in_header) {
            in_header = false;
            has_columns = find_columns(fields, run->operation, &columns);
        } else if (*line != '#' && has_columns) {
            struct row *row = &resume->rows[resume->num_rows];
            const char *device;
            if (!read_row(line, fields, &columns, run, row, &device))
                continue;
            if (!same_device(device, run->machine->device.name))
                status = other_run(path, "device", device, run->machine->device.name);
            resume->num_rows++;
        }
    }
    if (status == 0 && !is_empty && (known < NUM_KEYS || (!has_columns && !in_header)))
        status = usage_error("%s is not a table that this program wrote; remove it, or name another file", path);
    if (status == 0 && resume->num_rows != 0)
        snprintf(run->resumed, sizeof run->resumed, "%.31s", date);
    if (status != 0)
        resume_free(resume);
    return status;
}

void resume_free(struct resume *resume)
{
    free(resume->text);
    free(resume->fields);
    free(resume->rows);
    memset(resume, 0, sizeof *resume);
}
