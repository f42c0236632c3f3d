/* SPDX-License-Identifier: MIT */
/* demo_table.c - see demo_table.h. */
#include "demo_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUSIM
#include "../../cusim/counts.h"
#else
#include "../base/output.h"
#include "../harness/machine.h"
#include "../harness/measure.h"
#include "../harness/table.h"
#endif

void demo_stop_if(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

#ifdef CUSIM
static const char *shown;

static double per(uint64_t a, uint64_t b)
{
    return b > 0 ? (double)a / (double)b : 0.0;
}

/* The counts that a column may show. */
static double value_of(const char *column, const struct sim_counts *n)
{
    const struct sim_traffic *l = &n->loads, *s = &n->stores;
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"launches", (double)n->launches},
        {"blocks", (double)n->blocks},
        {"loads", (double)l->requests},                                       /* requests of all warps */
        {"stores", (double)s->requests},                                      /* likewise, atomics too */
        {"shared", (double)n->shared_requests},                               /* requests to shared memory */
        {"lanes", per(l->lanes + s->lanes, l->requests + s->requests)},       /* of a load or store */
        {"shared_lanes", per(n->shared_lanes, n->shared_requests)},           /* of a request to shared memory */
        {"sectors", per(l->sectors + s->sectors, l->requests + s->requests)}, /* of a load or store */
        {"barriers", per(n->barriers, n->blocks)},                            /* of a block */
        {"shuffles", (double)n->shuffles},
        {"conflicts", (double)n->conflicts},
        {"atomics", (double)n->atomics},
        {"contention", (double)n->contention},
        {"steps", (double)n->chain}, /* of the thread that has most */
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].name, column) == 0)
            return values[i].value;
    fprintf(stderr, "demo_table: there is no column %s\n", column);
    exit(2);
}

/* Calls `print` for each column. */
static void each_column(void (*print)(const char *column, const struct sim_counts *counts),
                        const struct sim_counts *counts)
{
    char columns[256], *at = columns;
    snprintf(columns, sizeof columns, "%s", shown);
    for (const char *column; (column = strtok_r(at, " ", &at)) != NULL;)
        print(column, counts);
    printf("\n");
}

static void print_head(const char *column, const struct sim_counts *counts)
{
    (void)counts;
    printf(" %12s", column);
}

static void print_value(const char *column, const struct sim_counts *counts)
{
    const double value = value_of(column, counts);
    printf(value == (double)(uint64_t)value ? " %12.0f" : " %12.1f", value);
}

void demo_begin(int argc, char **argv, const char *columns)
{
    if (argc > 1) {
        fprintf(stderr, "%s: the simulator has no times to write into %s; that needs a GPU\n", argv[0], argv[1]);
        exit(2);
    }
    shown = columns;
    printf("%-24s", "kernel");
    each_column(print_head, NULL);
}

void demo_row(const char *name, cudaError_t (*launch)(void))
{
    sim_reset_counts();
    demo_stop_if(launch(), name);
    demo_stop_if(cudaDeviceSynchronize(), name);
    const struct sim_counts counts = sim_get_counts();
    char label[80];
    snprintf(label, sizeof label, ",%s,,,", name);
    sim_trace("chapter,variant,direction,num_seqs,seq_len", label);
    printf("%-24s", name);
    each_column(print_value, &counts);
}

int demo_end(void)
{
    return 0;
}
#else
static struct machine machine;
static struct output output;
static bool writes;

void demo_begin(int argc, char **argv, const char *columns)
{
    char command[512];
    (void)columns;
    if (machine_find(false, &machine) != 0)
        exit(2);
    writes = argc > 1;
    if (writes) {
        if (output_open(&output, argv[1]) != 0)
            exit(2);
        snprintf(command, sizeof command, "%s %s", argv[0], argv[1]);
        csv_write_head(output.file, &machine, command, "variant,device,median_ms");
    }
    printf("on %s\n\n%-24s %12s\n", machine.device.name, "kernel", "ms");
}

void demo_row(const char *name, cudaError_t (*launch)(void))
{
    enum { REPEATS = 25, WARM_UP = 3 };
    float ms[REPEATS];
    cudaEvent_t start, stop;
    demo_stop_if(cudaEventCreate(&start), name);
    demo_stop_if(cudaEventCreate(&stop), name);
    for (int i = -WARM_UP; i < REPEATS; i++) {
        demo_stop_if(cudaEventRecord(start, NULL), name);
        demo_stop_if(launch(), name);
        demo_stop_if(cudaEventRecord(stop, NULL), name);
        demo_stop_if(cudaEventSynchronize(stop), name);
        if (i >= 0)
            demo_stop_if(cudaEventElapsedTime(&ms[i], start, stop), name);
    }
    demo_stop_if(cudaEventDestroy(start), name);
    demo_stop_if(cudaEventDestroy(stop), name);
    const double median_ms = timing_of(ms, REPEATS).median_ms;
    printf("%-24s %12.4f\n", name, median_ms);
    if (writes)
        fprintf(output.file, "%s,%s,%.4f\n", name, machine.device.name, median_ms);
}

int demo_end(void)
{
    return writes ? output_commit(&output) : 0;
}
#endif
