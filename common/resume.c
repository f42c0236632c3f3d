/* resume.c - see resume.h */
#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* The columns of table_write_csv that are looked at. */
enum { CHAPTER, VARIANT, DIRECTION, NUM_SEQS, SEQ_LEN, BACKEND, DEVICE, MEDIAN_MS, MAX_ERROR = 13, NUM_COLUMNS };

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
static int split(char *line, char *fields[NUM_COLUMNS])
{
    int count = 0;
    for (char *field; (field = strsep(&line, ",")) != NULL; count++)
        if (count < NUM_COLUMNS)
            fields[count] = field;
    return count;
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
static bool read_row(const char *line, char *copy, const struct run *run, struct row *row, const char **device)
{
    char *fields[NUM_COLUMNS];
    if (split(copy, fields) != NUM_COLUMNS || (*fields[MEDIAN_MS] == '\0' && strcmp(run->backend, "sim") != 0) ||
        (*fields[MAX_ERROR] != '\0' && !(strtod(fields[MAX_ERROR], NULL) <= 1.0)))
        return false;
    *device = fields[DEVICE];
    *row = (struct row){.chapter = fields[CHAPTER],
                        .variant = fields[VARIANT],
                        .direction = fields[DIRECTION],
                        .num_seqs = (size_t)strtoull(fields[NUM_SEQS], NULL, 10),
                        .seq_len = (size_t)strtoull(fields[SEQ_LEN], NULL, 10),
                        .line = line};
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
    char *command = table_command(run), *text = read_text(path), *copies;
    const char *keys[] = {"command", "toolkit", "driver"}, *mine[] = {command, run->toolkit, run->driver};
    int status = 0, lines = 1;
    const char *date = "";

    memset(resume, 0, sizeof *resume);
    if (text == NULL) {
        free(command);
        return errno == ENOENT ? 0 : usage_error("%s: cannot read: %s; name another file", path, strerror(errno));
    }
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    const size_t size = strlen(text) + 1;
    char *twice = realloc(text, 2 * size); /* lines, and copies that are cut into fields */
    resume->text = twice != NULL ? twice : text;
    resume->rows = calloc((size_t)lines, sizeof *resume->rows);
    if (command == NULL || twice == NULL || resume->rows == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    copies = twice + size;
    memcpy(copies, twice, size);

    bool header = true; /* up to the line with the columns' names */
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
        if (header || *line == '#') {
            header = header && *line == '#';
            continue;
        }
        struct row *row = &resume->rows[resume->num_rows];
        const char *device;
        if (!read_row(line, copies + (line - twice), run, row, &device))
            continue;
        if (!same_device(device, run->device))
            status = other_run(path, "device", device, run->device);
        resume->num_rows++;
    }
    if (status == 0 && known < 3 && size > 1)
        status = usage_error("%s is not a table that this program wrote; remove it, or name another file", path);
    if (status == 0 && resume->num_rows != 0)
        snprintf(run->resumed, sizeof run->resumed, "%.31s", date);
    free(command);
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
