/* SPDX-License-Identifier: MIT */
/* call.h - shared by all calls of the library. */
#ifndef LINREC_CALL_H
#define LINREC_CALL_H

#include <stdint.h>

#include "../common/base/dtype.h"
#include "liblinrec.h"

_Static_assert((int)LINREC_FLOAT32 == FLOAT32 && (int)LINREC_BFLOAT16 == BF16 && (int)LINREC_FLOAT16 == FP16,
               "the types have the same numbers");

/* The status of what a launcher has returned. Its arguments are checked before, so what it then calls invalid is one of
   its limits. */
int call_status(cudaError_t error);

/* The same of one that checks its arguments itself, and calls nothing else invalid. */
int call_checked(cudaError_t error);

/* The status of a workspace of which a call needs so many bytes. */
static inline int call_workspace(const void *workspace, size_t bytes, size_t needed)
{
    if ((uintptr_t)workspace % 16 != 0)
        return LINREC_INVALID_ARGUMENT;
    return needed == 0 || (workspace != NULL && bytes >= needed) ? LINREC_SUCCESS : LINREC_WORKSPACE_TOO_SMALL;
}

#endif
