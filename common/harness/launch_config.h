/* SPDX-License-Identifier: MIT */
/* launch_config.h - the launch configuration: what --config gives to a kernel, and what of it the kernel takes. */
#ifndef LAUNCH_CONFIG_H
#define LAUNCH_CONFIG_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a launch can be told (--config); 0: the kernel chooses by itself. A launcher takes what it names as tunable
   (below), ignores the rest, and refuses a combination that cannot run: cudaErrorInvalidValue, or cudaErrorNotSupported
   where the device is too small for it, for example in shared memory. */
struct launch_config {
    int rows;    /* how much a warp or a thread takes at once, in the unit that the kernel calls a row */
    int threads; /* threads of a block, a multiple of 32 */
    int stages;  /* tiles in shared memory at once */
};

/* Which of these a kernel takes: its tunable parameters. All zero: none. */
struct launch_tunables {
    int rows[4];      /* the numbers of rows that are compiled, 0 behind the last; none: it takes no rows */
    int max_threads;  /* any multiple of 32 up to this; 0: it takes no threads */
    int max_stages;   /* any number up to this; 0: it takes no stages */
    int least_stages; /* and from this on; 0: from 1 on */
};

enum { LAUNCH_CONFIG_TEXT = 128 }; /* longest text of the functions below */

/* Reads "rows=2,threads=256" into *config, beside what is there. Returns -1 to go on, or 2 after one line on stderr. */
int launch_config_read(const char *text, struct launch_config *config);

/* Whether --config gave anything. */
bool launch_config_given(const struct launch_config *config);

/* Whether a kernel with these tunable parameters can be set to all that was given. */
bool launch_tunables_take(const struct launch_tunables *tunable, const struct launch_config *config);

/* What was given, with `before` in front of each, as it stands behind a variant's name: ":threads=256:stages=3". In a
   sentence ',' goes between them: launch_config_text(config, ',', text) + 1 leaves out the first. Returns text. */
const char *launch_config_text(const struct launch_config *config, char before, char text[LAUNCH_CONFIG_TEXT]);

/* The values that a kernel takes: "rows 1, 2, 4; threads up to 512; stages up to 4"; empty if nothing. Returns text. */
const char *launch_tunables_text(const struct launch_tunables *tunable, char text[LAUNCH_CONFIG_TEXT]);

/* Whether a launch failed because the launcher does not take this configuration here: too much shared memory, for
   example. */
bool launch_config_refused(const struct launch_config *config, cudaError_t error);

/* What may be the cause, and what to do: the end of a sentence that names the kernel and what was given. */
#define LAUNCH_CONFIG_CAUSE                                                                                            \
    "for want of shared memory, for example, or of room for all blocks at once; choose other numbers"

#ifdef __cplusplus
}
#endif
#endif
