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
    {.info.name = "mma",
     .info.idea = "the tensor cores multiply what ldmatrix has fetched",
     .forward = product_mma,
     .k_of = 8,
     .n_of = 8,
     .info.bits16_only = true,
     .info.min_arch = 80},
    {.info.name = "wgmma",
     .info.idea = "the tensor cores read shared memory by themselves, boxes come by the TMA",
     .forward = product_wgmma,
     .k_of = 8,
     .n_of = 8,
     .info.bits16_only = true,
     .info.min_arch = 90},
    {.info.name = "cublas", .info.idea = "NVIDIA's library, to compare with", .forward = product_cublas},
    {.info.name = "default",
     .info.idea = "wgmma or mma where they can; else registers",
     .forward = product_default,
     .info.is_default = true},
    {.info.name = NULL},
};

const struct chapter chapter14_product = {
    .name = "14_chunk_product",
    .operation = &product_operation,
    .kernels = chapter14_product_kernels,
};
