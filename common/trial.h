/* trial.h - one direction and shape: check all kernels, then time all. */
#ifndef TRIAL_H
#define TRIAL_H

#include "measure.h"
#include "report.h"
#include "selection.h"

/* What the trials of a run share. */
struct trials {
    const struct selection *selection;
    struct report *report;
    struct flush flush;
    char shape[KNOBS_TEXT]; /* what --config gave, as the table shows it */
    bool *said;             /* of each kernel: why it skips shapes */
    bool *refused;          /* of each kernel: it does not run in --config's shape at the present sizes */
    bool promised;          /* the launchers' promises are checked */
    int status;             /* 2: no kernel ran in --config's shape, and it was said */
};

/* Whether a shape's arrays fit into the memory, with what a kernel wants as workspace and a margin. */
bool trial_fits(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES], size_t *needed,
                size_t *available);

/* What a shape costs, roughly and in milliseconds: a launch, the check by few threads, the bytes. */
double trial_work(const struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES]);

/* Checks and times all kernels. Returns false if there was nothing to do, or trials->status says why it must end. */
bool trial_run(struct trials *trials, enum direction direction, const size_t sizes[MAX_SIZES]);

#endif
