/* SPDX-License-Identifier: MIT */
/* product_kernels.h - chapter 14: the launchers of the product of matrices, in the order of the text. */
#ifndef CHUNK_PRODUCT_PRODUCT_KERNELS_H
#define CHUNK_PRODUCT_PRODUCT_KERNELS_H

#include "../operation/product_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

product_launcher product_plain;     /* a thread for each element of C */
product_launcher product_tiles;     /* a block shares tiles of A and B in shared memory */
product_launcher product_registers; /* and a thread has 8 x 8 elements of C in registers */

/* The tensor cores multiply, bf16 or fp16; n and k are multiples of 8. cudaErrorNotSupported below sm_80, and on chips
   other than sm_90. */
product_launcher product_mma;   /* as a warp's instructions */
product_launcher product_wgmma; /* out of shared memory, by themselves */

product_launcher product_cublas;  /* NVIDIA's library, to compare with: its first call on a device allocates */
product_launcher product_default; /* the fastest of ours for the type and the chip (product_default.c) */

extern const struct product_kernel chapter14_product_kernels[];

struct operation;
extern const struct operation product_operation;
struct chapter;
extern const struct chapter chapter14_product;

#ifdef __cplusplus
}
#endif
#endif
