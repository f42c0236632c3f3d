/* SPDX-License-Identifier: MIT */
/* oracle.h - the selective scan in double precision, and how far off a result in float32 may be. */
#ifndef SELECTIVE_ORACLE_H
#define SELECTIVE_ORACLE_H

#include "../../common/harness/operation.h"

/* check: all of a problem, on the host. device_check: of arrays on the device, all of a small problem and samples of a
   large one; it copies them to the host, and so waits. */
void selective_check(const struct problem *problem, const struct data *data, int levels, struct finding *finding);
cudaError_t selective_device_check(const struct problem *problem, const struct data *data, int levels,
                                   struct finding *finding);

/* The same of a step, on the host: a row is a scan of one element that begins with its slot's state. Every `every`-th
   row is compared, and every `every`-th slot that no row has. Findings name the arrays by the numbers `out` and
   `new_state`. */
struct selective_step_args;
void selective_check_step(const struct selective_step_args *args, size_t every, int out, int new_state,
                          struct finding *finding);

#endif
