/* SPDX-License-Identifier: MIT */
/* measure.h - the time that a launch takes. */
#ifndef MEASURE_H
#define MEASURE_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

struct timing {
    double median_ms, p20_ms, p80_ms;
};

/* Median and spread of `count` times, at least one. Sorts them in place. */
struct timing timing_of(float *ms, int count);

/* A launch of `what`: operation->launch with a row of the table, or baseline_launch with a baseline. */
typedef cudaError_t launch_function(const void *what, const struct problem *problem, cudaStream_t stream);

/* Memory to read before each launch, at least twice the L2 cache. No bytes: nothing is read. */
struct flush {
    void *buffer;
    size_t bytes;
};

/* Times `repeats` launches, each with a cold cache: the queue holds flush, event, kernel, event, flush, ... and the
   host waits once, at the end. `places`: the same problem in num_places sets of arrays, taken in turn, each with the
   workspace that the kernel asks for. Two launches in each place warm up and are not counted. Where the times scatter
   too much (p80 far above p20) all of them are taken again, at most twice, and the calmest timing is kept. Fewer than 1
   repeat or place is an error. */
cudaError_t measure(launch_function *launch, const void *what, const struct problem *places, int num_places,
                    int repeats, const struct flush *flush, struct timing *timing);

#ifdef __cplusplus
}
#endif
#endif
