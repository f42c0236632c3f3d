/* SPDX-License-Identifier: MIT */
/* placement.h - a placement of a program's arrays, which says where they live. Without one they are on the device, and
   a kernel is launched on them as they are (trial.h). Where they are elsewhere, in the host's memory or cut over
   several processes, a chapter's operation names one: a few functions, and what the table shows. Options, data, the
   loop over shapes and kernels, times, table and CSV are the harness's. */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include "operation.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct selection; /* selection.h */

/* An option of this placement's programs alone; without `read`, other words for one that every program has. */
struct placement_option {
    const char *name, *argument, *help; /* as --help shows them */
    int (*read)(const char *text);      /* keeps the value; returns -1, or 2 after one line on stderr */
};

/* One kernel on one shape. */
struct placed {
    struct problem problem; /* sizes and direction; pointers as `place` sets them */
    const void *kernel;     /* the row of the chapter's table */
    size_t piece;           /* of options->pieces; 0: the placement cuts nothing into pieces */
    char where[64];         /* what a message says behind the sizes, " in pieces of 90" */
    double *values;         /* a row of the table: a number for each column, NaN where there is none */
    double elements;        /* of an array */
};

struct placement {
    const char *launcher;               /* in --help before the program's name, "mpirun -n RANKS "; or "" */
    const char *purpose;                /* in --help: what the program does */
    struct placement_option options[8]; /* the last one has no name */
    struct size piece;                  /* an option for how large pieces are, a list from 1 on; no name: none */
    size_t pieces[8];                   /* without that option; the last one is 0 */
    int repeats;                        /* without --repeats */
    size_t large;                       /* above so many elements ... */
    unsigned kinds_if_large;            /* ... only these kinds of data are checked: bit k for kind k */

    const char *devices; /* in the title before the device's name, "2 x "; or "" */
    const char *on_sim;  /* behind it, on the simulator */
    bool timed_on_sim;
    int name_width, direction_width;
    /* First what a row is of, then its median, 20th and 80th percentile by the clock, and last the largest error. */
    struct column columns[MAX_VALUES];
    int num_keys, num_columns;
    bool is_silent; /* another process speaks for this one: it says no more than what fails here */

    void (*begin)(void); /* when the options are read; NULL: nothing is to be done */
    void (*end)(void);   /* before the program ends */

    /* Ends all with one sentence if there was an error. */
    void (*need)(cudaError_t error, const char *what);

    /* The largest of a number of all processes, which all call it. NULL: there is one. */
    double (*largest)(double mine);

    /* Makes the arrays, and sets a row's keys. Returns false, after a sentence, if this kernel is left out. */
    bool (*place)(struct placed *placed);
    void (*release)(struct placed *placed);

    /* Whether the kernel has nothing new to do with these pieces. NULL: it has. */
    bool (*is_idle)(const struct placed *placed, bool is_first_piece);

    /* Fills what the pass reads, and what it writes with NaN. */
    void (*fill)(struct placed *placed, const struct data *data);

    /* Computes the pass, and waits. */
    void (*run)(struct placed *placed);

    /* Compares the results with the oracle. */
    void (*check)(struct placed *placed, const struct data *data, struct finding *finding);

    /* Counts what a run moves, and leaves what is timed in the arrays. `label`: the first columns of the CSV, for a
       trace; `names`: of these. */
    void (*count)(struct placed *placed, uint64_t seed, const char *names, const char *label);

    /* Adds what follows from the times. NULL: nothing. */
    void (*conclude)(struct placed *placed);
};

/* Checks, counts and times all kernels, and prints and writes the table. Returns the exit status. */
int placement_run(struct selection *selection, struct machine *machine);

/* What a silent process would say of wrong usage, another one says: stderr is closed between these two. */
int placement_hush(const struct placement *placement);
void placement_speak(int hushed);

#ifdef __cplusplus
}
#endif
#endif
