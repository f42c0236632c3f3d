/* chunk_operation.h - the chunk states as an operation of the harness, and chapter 10 as a whole. */
#ifndef CHUNK_OPERATION_H
#define CHUNK_OPERATION_H

#include "../../common/harness/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct operation chunk_state_operation;
extern const struct chapter chapter10;

#ifdef __cplusplus
}
#endif
#endif
