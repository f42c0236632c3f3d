/* SPDX-License-Identifier: MIT */
/* product_begin.h - what every launcher of a product does first. */
#ifndef CHUNK_PRODUCT_PRODUCT_BEGIN_H
#define CHUNK_PRODUCT_PRODUCT_BEGIN_H

#include <stdbool.h>

#include "../operation/product_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arguments, and sets *done where nothing is left for a kernel: an empty C, or k = 0, with which zeros are
   written on `stream`. Returns an error of these, cudaErrorInvalidValue for arguments that no kernel takes. */
cudaError_t product_begin(const struct product_args *args, cudaStream_t stream, bool *done);

/* The blocks of a grid that covers C with tiles of rows x columns, one block each; 0: too many for a grid. */
size_t product_num_tiles(const struct product_args *args, size_t rows, size_t columns);

#ifdef __cplusplus
}
#endif
#endif
