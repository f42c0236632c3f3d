/* measure.h - how long a launch takes. */
#ifndef MEASURE_H
#define MEASURE_H

#include "arrays.h"

struct timing {
    double median_ms, p20_ms, p80_ms;
};

/* Times `repeats` launches of the kernel's pass (backward or not), each with a cold cache: the queue holds flush,
   event, kernel, event, flush, ... and the host waits once, at the end. Two launches before them warm up and are not
   counted. Where they scatter too much (p80 far above p20) all of them are timed again, at most twice, and the calmest
   timing is kept.

   flush_buffer: memory to read before each launch, at least twice the L2 cache. Fewer than 1 repeat is an error. */
cudaError_t measure(struct arrays *arrays, const struct linrec_kernel *kernel, bool backward, int repeats,
                    const void *flush_buffer, size_t flush_bytes, struct timing *timing);

#endif
