/* SPDX-License-Identifier: MIT */
/* stages.h - the launchers of async, copy_only, work_only, tma and tma_evict_last, whose tiles wait in stages of shared
   memory (few.md). */
#ifndef PIPE_STAGES_H
#define PIPE_STAGES_H

#include "pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

linrec_launcher pipe_async_forward;          /* cp.async into the stages (sm_80) */
linrec_launcher pipe_copy_only_forward;      /* async's copies without its work: no recurrence is computed (sm_80) */
linrec_launcher pipe_work_only_forward;      /* async's work without its copies: likewise (sm_80) */
linrec_launcher pipe_tma_forward;            /* TMA bulk copies into the stages (sm_90) */
linrec_launcher pipe_tma_evict_last_forward; /* the same, with a cache hint (sm_90) */

#ifdef __cplusplus
}
#endif
#endif
