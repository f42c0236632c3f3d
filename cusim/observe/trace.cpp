/* SPDX-License-Identifier: MIT */
/* trace.cpp - writes what was counted into files, as CSV, when the program ends.

       CUSIM_TRACE=FILE        a row for each kernel, and one for each of its lines that access memory
       CUSIM_TRACE_WARP=FILE   the first requests of the first warp, lane by lane: for a picture
       CUSIM_REPORT=1        no file: a table on stderr (report.cpp), and below it an estimate of time

   A program that knows what its launches are for says so (sim_trace): the rows since the last reset then get that
   label. If it never does, all its launches are in the file, without one. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../machine/fault.h"
#include "trace.h"

#include "../machine/block.h"
#include "../machine/settings.h"
#include "../machine/locate.h"
#include "../machine/cores.h"

/* What one lane did in one request. */
struct lane_access {
    unsigned label;
    const void *kernel, *pc;
    const char *kind;
    unsigned number, lane, size; /* number: of the request, as they come */
    size_t offset;
};

static const char *rows_path, *lanes_path;
static struct sim_row *rows;
static bool reports;
static sim_reporter *reporter;
static struct lane_access *lanes;
static char **labels;
static const char *label_columns = "chapter,variant,direction,num_seqs,seq_len";
static size_t num_rows, labelled_rows, num_lanes, labelled_lanes;
static unsigned num_labels;

/* The path in an environment variable, NULL if there is none or an empty one. */
static const char *wanted_path(const char *variable)
{
    const char *path = sim_setting(variable);
    return path != NULL && *path != '\0' ? path : NULL;
}

__attribute__((constructor)) static void read_paths(void)
{
    rows_path = wanted_path("CUSIM_TRACE");
    lanes_path = wanted_path("CUSIM_TRACE_WARP");
    if (lanes_path != NULL)
        sim_never_split();
    reports = wanted_path("CUSIM_REPORT") != NULL && strcmp(sim_setting("CUSIM_REPORT"), "0") != 0;
}

void sim_report_by(sim_reporter *by)
{
    reporter = by;
}

bool sim_traces(void)
{
    return rows_path != NULL || lanes_path != NULL;
}

bool sim_traces_lanes(void)
{
    return lanes_path != NULL;
}

/* Room for one more; the numbers of items at which a list is full are the powers of two. */
static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0)
        list = realloc(list, (count == 0 ? 1 : 2 * count) * size);
    if (list == NULL)
        sim_fault(NULL, 0, "no memory for the trace. Trace smaller shapes");
    return list;
}

void sim_trace_add(const void *kernel, const void *pc, const struct sim_counts *counts)
{
    if (rows_path == NULL && !reports)
        return;
    for (size_t i = labelled_rows; i < num_rows; i++)
        if (rows[i].kernel == kernel && rows[i].pc == pc) {
            sim_add_counts(&rows[i].counts, counts);
            return;
        }
    rows = (struct sim_row *)grow(rows, num_rows, sizeof(*rows));
    rows[num_rows++] = {0, kernel, pc, *counts, "", ""};
}

void sim_trace_lane(const void *kernel, const void *pc, const char *kind, unsigned number, unsigned lane, size_t offset,
                    unsigned size)
{
    lanes = (struct lane_access *)grow(lanes, num_lanes, sizeof(*lanes));
    lanes[num_lanes++] = {0, kernel, pc, kind, number, lane, size, offset};
}

void sim_trace_reset(void)
{
    num_rows = labelled_rows;
    num_lanes = labelled_lanes;
}

void sim_trace(const char *columns, const char *label)
{
    if (!sim_traces())
        return;
    labels = (char **)grow(labels, num_labels, sizeof(*labels));
    if (num_labels == 0)
        label_columns = strdup(columns);
    if (label_columns == NULL || (labels[num_labels++] = strdup(label)) == NULL)
        sim_fault(NULL, 0, "no memory for the trace. Trace smaller shapes");
    for (; labelled_rows < num_rows; labelled_rows++)
        rows[labelled_rows].label = num_labels;
    for (; labelled_lanes < num_lanes; labelled_lanes++)
        lanes[labelled_lanes].label = num_labels;
}

/* ---- the files ---- */

static struct sim_located *known; /* all addresses that the rows name */
static size_t num_known;

static int compare_addresses(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct sim_located *)a)->address;
    const uintptr_t y = (uintptr_t)((const struct sim_located *)b)->address;

    return (x > y) - (x < y);
}

static void want(const void *address)
{
    known = (struct sim_located *)grow(known, num_known, sizeof(*known));
    known[num_known].address = address;
    known[num_known].function[0] = known[num_known].place[0] = '\0';
    num_known++;
}

static const struct sim_located *find(const void *address)
{
    struct sim_located key;

    key.address = address;
    return (const struct sim_located *)bsearch(&key, known, num_known, sizeof(*known), compare_addresses);
}

/* By label, kernel and line; the whole kernel before its lines. */
static int compare_rows(const void *a, const void *b)
{
    const struct sim_row *x = (const struct sim_row *)a, *y = (const struct sim_row *)b;
    const char *colon_x = strrchr(x->place, ':'), *colon_y = strrchr(y->place, ':');

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (colon_x == NULL || colon_y == NULL)
        return (colon_x != NULL) - (colon_y != NULL);
    const long files = colon_x - x->place == colon_y - y->place
                           ? strncmp(x->place, y->place, (size_t)(colon_x - x->place))
                           : strcmp(x->place, y->place);
    const long line_x = atol(colon_x + 1), line_y = atol(colon_y + 1);
    return files != 0 ? (int)files : (line_x > line_y) - (line_x < line_y);
}

/* A program that was to leave a trace and cannot must not end as if it had. */
static void give_up(const char *path)
{
    fprintf(stderr, "simulator: cannot write the trace %s: %s\n", path, strerror(errno));
    fflush(stdout);
    _exit(2);
}

static void finish(FILE *file, const char *path)
{
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        give_up(path);
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        give_up(path);
    return file;
}

static void print_place(FILE *file, unsigned label, const void *kernel, const char *place)
{
    if (label != 0)
        fputs(labels[label - 1], file);
    else /* empty, all of them */
        for (const char *c = label_columns; *c != '\0'; c++)
            if (*c == ',')
                fputc(',', file);
    fputc(',', file);
    for (const char *c = find(kernel)->function; *c != '\0'; c++)
        if (*c != ' ')
            fputc(*c == ',' ? ';' : *c, file);
    fprintf(file, ",%s", place);
}

/* One row for each line of a kernel, in order. */
static void join_rows(void)
{
    size_t joined = 0;

    for (size_t i = 0; i < num_rows; i++) {
        if (rows[i].pc != NULL)
            snprintf(rows[i].place, sizeof(rows[i].place), "%s", find(rows[i].pc)->place);
        snprintf(rows[i].function, sizeof(rows[i].function), "%s", find(rows[i].kernel)->function);
    }
    if (num_rows > 0)
        qsort(rows, num_rows, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < num_rows; i++)
        if (joined > 0 && compare_rows(&rows[i], &rows[joined - 1]) == 0)
            sim_add_counts(&rows[joined - 1].counts, &rows[i].counts);
        else
            rows[joined++] = rows[i];
    num_rows = joined;
}

static void print_rows(FILE *file)
{
    fprintf(file, "%s,kernel,line", label_columns);
    fprintf(file,
            ",launches,blocks,threads,barriers,warp_barriers,shuffles,votes,atomics,orders,strong_orders,"
            "async_copies,bulk_copies,load_requests,load_bytes,load_sectors,load_least,load_lines,load_once,load_lanes,"
            "store_requests,store_bytes,store_sectors,store_least,store_lines,store_once,store_lanes,"
            "shared_requests,shared_bytes,shared_lanes,conflicts,contention,chain,idle_waits,fills,merges,ahead_bytes,"
            "block_turns,shared_"
            "memory,far_steps,l2_steps,near_steps,copy_steps,"
            "shared_steps,exchange_steps,meeting_steps,handovers,handover_work\n");
    for (size_t i = 0; i < num_rows; i++) {
        print_place(file, rows[i].label, rows[i].kernel, rows[i].place);
        for (size_t f = 0; f < offsetof(struct sim_counts, plain_loads) / sizeof(uint64_t); f++)
            fprintf(file, ",%llu", (unsigned long long)((const uint64_t *)&rows[i].counts)[f]);
        fputc('\n', file);
    }
}

static void write_lanes(void)
{
    FILE *file = create(lanes_path);

    fprintf(file, "%s,kernel,line,kind,request,lane,offset,bytes\n", label_columns);
    for (size_t i = 0; i < num_lanes; i++) {
        const struct lane_access *a = &lanes[i];
        print_place(file, a->label, a->kernel, find(a->pc)->place);
        fprintf(file, ",%s,%u,%u,%zu,%u\n", a->kind, a->number, a->lane, a->offset, a->size);
    }
    finish(file, lanes_path);
}

__attribute__((destructor)) static void write_files(void)
{
    size_t distinct = 0;

    if (num_labels > 0)
        sim_trace_reset(); /* what has no label */
    for (size_t i = 0; i < num_rows; i++)
        want(rows[i].pc != NULL ? rows[i].pc : rows[i].kernel);
    for (size_t i = 0; i < num_lanes; i++) {
        want(lanes[i].pc);
        want(lanes[i].kernel);
    }
    if (num_known > 0)
        qsort(known, num_known, sizeof(*known), compare_addresses);
    for (size_t i = 0; i < num_known; i++)
        if (distinct == 0 || known[i].address != known[distinct - 1].address)
            known[distinct++] = known[i];
    num_known = distinct;
    sim_locate_all(known, num_known);
    join_rows();
    if (reports && reporter != NULL)
        reporter(rows, num_rows, print_rows);
    if (rows_path != NULL) {
        FILE *file = create(rows_path);
        print_rows(file);
        finish(file, rows_path);
    }
    if (lanes_path != NULL)
        write_lanes();
}
