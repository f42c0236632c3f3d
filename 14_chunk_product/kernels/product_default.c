/* SPDX-License-Identifier: MIT */
/* product_default.c - the fastest kernel of the chapter's own for the type and the chip. */
#include "product_kernels.h"

cudaError_t product_default(const struct product_args *args, cudaStream_t stream)
{
    return product_registers(args, stream);
}
