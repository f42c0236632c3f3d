/* SPDX-License-Identifier: MIT */
/* layer_backward_oracle.h - the gradients of the layer in double precision, and how far off a result may be
   (layer_backward_oracle.c). */
#ifndef LAYER_BACKWARD_ORACLE_H
#define LAYER_BACKWARD_ORACLE_H

#include <stdint.h>

#include "../../common/harness/finding.h"
#include "layer_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compares what a kernel that multiplies chunks of `chunk` steps (1: a loop) has written; the arrays are on the host.
   `whole`: all of it; else the gradients of two heads in all sequences, and two columns of d_B and d_C, which are the
   first, the last, or what the seed draws. Returns false if there is no memory. */
bool layer_check_backward(const struct layer_backward_args *args, size_t chunk, bool whole, uint64_t seed,
                          struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
