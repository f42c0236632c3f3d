/* SPDX-License-Identifier: MIT */
/* trial.h - one direction and shape: check all kernels, then time all. */
#ifndef TRIAL_H
#define TRIAL_H

#include "measure.h"
#include "console.h"
#include "selection.h"

/* What the trials of a run share. */
struct trials {
    const struct selection *selection;
    struct console *console;
    struct flush flush;
    char config[LAUNCH_CONFIG_TEXT]; /* what --config gave, as the table shows it */
    bool *skip_was_said;             /* for each kernel: the user was told that it skips a shape; once is enough */
    bool *refused;                   /* for each kernel: its launcher does not take --config at the present sizes */
    bool contracts_checked;          /* once for all shapes */
    int status;                      /* 2: no kernel takes --config at some sizes, and the user was told */
};

/* Whether a shape's arrays fit into the memory, with what a kernel wants as workspace and a margin. */
bool trial_fits(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES], size_t *needed,
                size_t *available);

/* A guess of the milliseconds that a shape takes, for the time that is left. */
double trial_work(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES]);

/* Checks and times all kernels. Returns false if it did not: an earlier run has the rows, there is no memory, or
   trials->status is not 0. */
bool trial_run(struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES]);

#endif
