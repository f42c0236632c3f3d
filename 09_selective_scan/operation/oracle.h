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

#endif
