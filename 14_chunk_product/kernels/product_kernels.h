#ifndef PRODUCT_KERNELS_H
#define PRODUCT_KERNELS_H
#include "../operation/product_arguments.h"
#ifdef __cplusplus
extern "C" {
#endif
product_launcher product_mma, product_wgmma;
cudaError_t product_begin(const struct product_args *args, bool *done);
#ifdef __cplusplus
}
#endif
#endif
