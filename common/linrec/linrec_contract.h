/* SPDX-License-Identifier: MIT */
/* linrec_contract.h - the promises of linrec.h beside a launcher's result, and the results of partial kernels. */
#ifndef LINREC_CONTRACT_H
#define LINREC_CONTRACT_H

#include "linrec.h"
#include "../harness/operation.h"

/* The recurrence's `contract` (operation.h); a row is a struct linrec_kernel.

   Calls the launcher of a pass with all that it must refuse: a null pointer or one that is not aligned to 16 bytes,
   whichever it is of those that the pass needs; states, if its row does not take them, or one that is not aligned, or
   the gradient of one that is not there; sizes whose bytes overflow; a direction, a length, or a number of
   sequences that its row does not offer; rows, threads or stages that are not among those that it names as tunable.
   With zero sizes, whatever the pointers, it must succeed. A kernel with a workspace must refuse to run without, or
   with a byte less, and be right again, with other data and what the launches before left there. Then it must launch on
   the stream that it is given and return the error that CUDA tells about (the simulator can tell both). One
   that takes states must hand them on from piece to piece, so that two pieces are the whole, and through sequences of
   no elements. A partial kernel must compute what its row says that it does. `on_cpu`: it has no stream, no such
   errors, and limits that only save time.

   Writes one line about the first promise that is broken; an empty one, if none is. */
void linrec_contract(const void *row, enum direction direction, bool on_cpu, char *text, size_t size);

#endif
