/* SPDX-License-Identifier: MIT */
/* product_kernels.c - the table of the kernels for the product of matrices. */
#include "product_kernels.h"

#include "../../common/harness/harness.h"

const struct product_kernel chapter14_product_kernels[] = {
    {.info.name = "plain", .info.idea = "a thread for each element of C", .forward = product_plain},
    {.info.name = "tiles", .info.idea = "tiles of 32 x 32 in shared memory", .forward = product_tiles},
    {.info.name = "registers",
     .info.idea = "tiles of 128 x 128, of which a thread has 8 x 8 in registers",
     .forward = product_registers},
    {.info.name = "cublas", .info.idea = "NVIDIA's library, to compare with", .forward = product_cublas},
    {.info.name = "default", .info.idea = "registers", .forward = product_default, .info.is_default = true},
    {.info.name = NULL},
};

const struct chapter chapter14_product = {
    .name = "14_chunk_product",
    .operation = &product_operation,
    .kernels = chapter14_product_kernels,
};
