/* SPDX-License-Identifier: MIT */
/* product_default.c - the fastest kernel of the chapter's own for the type, the sizes and the chip. */
#include "product_kernels.h"

cudaError_t product_default(const struct product_args *args, cudaStream_t stream)
{
    product_launcher *const by_speed[] = {product_wgmma, product_mma};
    const bool for_tensor_cores = args != NULL && args->dtype != FLOAT32 && args->n % 8 == 0 && args->k % 8 == 0;
    for (int i = 0; i < 2 && for_tensor_cores; i++) {
        const cudaError_t error = by_speed[i](args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    return product_registers(args, stream);
}
