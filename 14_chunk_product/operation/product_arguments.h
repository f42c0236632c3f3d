/* SPDX-License-Identifier: MIT */
#ifndef PRODUCT_ARGUMENTS_H
#define PRODUCT_ARGUMENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <cuda_runtime_api.h>
#include "../../common/base/dtype.h"
struct product_args { size_t m, n, k; enum dtype dtype; const void *a, *b; void *c; };
typedef cudaError_t product_launcher(const struct product_args *args, cudaStream_t stream);
#endif
