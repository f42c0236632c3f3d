/* resume.c - see resume.h */
#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Where the columns that are looked at stand in this file. */
enum { MAX_COLUMNS = 64 };
struct columns {
    int count; /* of all columns */
    int chapter, variant, direction, device, median_ms, max_error;
    int sizes[MAX_SIZES];
};

/* All of the file with a zero behind it; NULL if it is not there or cannot be read, and errno says why. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 1;
    while (file != NULL && got != 0) {
        char *larger = realloc(text, size + 65536 + 1);
        if (larger == NULL)
            break;
        text = larger;
        got = fread(text + size, 1, 65536, file);
        size += got;
        text[size] = '\0';
    }
    if (file != NULL)
        fclose(file);
    return text;
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

/* Whether a field names this device; commas stand there as blanks. */
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
    if ((*fields[columns->median_ms] == '\0' && run->place->backend != ON_SIM) ||
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

int resume_read(struct resume *resume, const char *path, struct run *run)
{
    char *text = read_text(path), *copies;
    const char *keys[] = {"command", "toolkit", "driver"};
    const char *mine[] = {run->command, run->place->toolkit, run->place->driver};
    int status = 0, lines = 1;
    const char *date = "";

    memset(resume, 0, sizeof *resume);
    if (text == NULL)
        return errno == ENOENT ? 0 : usage_error("%s: cannot read: %s; name another file", path, strerror(errno));
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    const size_t size = strlen(text) + 1;
    char *twice = realloc(text, 2 * size); /* lines, and copies that are cut into fields */
    resume->text = twice != NULL ? twice : text;
    resume->rows = calloc((size_t)lines, sizeof *resume->rows);
    if (twice == NULL || resume->rows == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    copies = twice + size;
    memcpy(copies, twice, size);

    bool header = true; /* up to the line with the columns' names */
    bool has_columns = false;
    struct columns columns;
    int known = 0;
    for (char *line = twice, *end; status == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        copies[end - twice] = '\0';
        for (int i = 0; i < 3 && header && status == 0; i++) {
            const char *was = header_value(line, keys[i]);
            known += was != NULL;
            if (was != NULL && strcmp(was, mine[i]) != 0)
                status = other_run(path, keys[i], was, mine[i]);
        }
        if (header && header_value(line, "date") != NULL)
            date = header_value(line, "date");
        if (*line == '#')
            continue;
        if (header) {
            header = false;
            has_columns = find_columns(copies + (line - twice), run->operation, &columns);
            continue;
        }
        if (!has_columns)
            continue;
        struct row *row = &resume->rows[resume->num_rows];
        const char *device;
        if (!read_row(line, copies + (line - twice), &columns, run, row, &device))
            continue;
        if (!same_device(device, run->place->device.name))
            status = other_run(path, "device", device, run->place->device.name);
        resume->num_rows++;
    }
    if (status == 0 && (known < 3 || (!has_columns && !header)) && size > 1)
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
    free(resume->rows);
    memset(resume, 0, sizeof *resume);
}
