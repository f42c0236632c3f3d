/* knobs.h - the shape that --config gives, and which kernels take it. */
#ifndef KNOBS_H
#define KNOBS_H

#include "linrec.h"

enum { KNOBS_TEXT = 128 }; /* longest text of the functions below */

/* Reads "rows=2,threads=256" into *config, beside what is there. Returns -1 to go on, or 2 after one line on stderr. */
int knobs_read(const char *text, struct linrec_config *config);

/* Whether --config gave anything. */
bool knobs_given(const struct linrec_config *config);

/* Whether the kernel can be set to all that was given. */
bool knobs_take(const struct linrec_kernel *kernel, const struct linrec_config *config);

/* What was given, with `before` in front of each: ":threads=256:stages=3". Returns text. */
const char *knobs_shape(const struct linrec_config *config, char before, char text[KNOBS_TEXT]);

/* What the kernel takes: "rows 1, 2, 4; threads up to 512; stages up to 4"; empty if nothing. Returns text. */
const char *knobs_list(const struct linrec_kernel *kernel, char text[KNOBS_TEXT]);

/* Whether a launch failed because the launcher does not take this shape here: too much shared memory, for example. */
bool knobs_refused(const struct linrec_config *config, cudaError_t error);

#endif
