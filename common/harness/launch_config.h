/* launch_config.h - the shape that --config gives, and which kernels take it. */
#ifndef LAUNCH_CONFIG_H
#define LAUNCH_CONFIG_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel can be told about its shape (--config); 0: it chooses by itself. A launcher takes what its knobs
   (below) name, ignores the rest, and refuses a combination that cannot run: cudaErrorInvalidValue, or
   cudaErrorNotSupported where the device is too small for it, for example in shared memory. */
struct linrec_config {
    int rows;    /* rows of 32 float4 that a warp takes of each tile */
    int threads; /* threads of a block, a multiple of 32 */
    int stages;  /* tiles in shared memory at once */
};

/* Which of these a kernel takes. All zero: none. */
struct linrec_knobs {
    int rows[4];      /* the numbers of rows that are compiled, 0 behind the last; none: no such knob */
    int max_threads;  /* any multiple of 32 up to this; 0: no such knob */
    int max_stages;   /* any number up to this; 0: no such knob */
    int least_stages; /* and from this on; 0: from 1 on */
};

enum { KNOBS_TEXT = 128 }; /* longest text of the functions below */

/* Reads "rows=2,threads=256" into *config, beside what is there. Returns -1 to go on, or 2 after one line on stderr. */
int knobs_read(const char *text, struct linrec_config *config);

/* Whether --config gave anything. */
bool knobs_given(const struct linrec_config *config);

/* Whether a kernel with these knobs can be set to all that was given. */
bool knobs_take(const struct linrec_knobs *knobs, const struct linrec_config *config);

/* What was given, with `before` in front of each, as it stands behind a variant's name: ":threads=256:stages=3". In a
   sentence ',' goes between them: knobs_shape(config, ',', text) + 1 leaves out the first. Returns text. */
const char *knobs_shape(const struct linrec_config *config, char before, char text[KNOBS_TEXT]);

/* The values that the knobs take: "rows 1, 2, 4; threads up to 512; stages up to 4"; empty if nothing. Returns text. */
const char *knobs_list(const struct linrec_knobs *knobs, char text[KNOBS_TEXT]);

/* Whether a launch failed because the launcher does not take this shape here: too much shared memory, for example. */
bool knobs_refused(const struct linrec_config *config, cudaError_t error);

#ifdef __cplusplus
}
#endif
#endif
