/* SPDX-License-Identifier: MIT */
/* product_arguments.h - the product of two matrices,

       c[i][j] = a[i][0] b[0][j] + a[i][1] b[1][j] + ... + a[i][k-1] b[k-1][j]

   C (m, n) = A (m, k) B (k, n): all of them row-major, one row behind the other without gaps. */
#ifndef CHUNK_PRODUCT_PRODUCT_ARGUMENTS_H
#define CHUNK_PRODUCT_PRODUCT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/base/dtype.h"
#include "../../common/harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of every launcher. The void pointers are arrays of the type `dtype` on the device. They begin at
   multiples of 16 bytes; their rows have any alignment, as m, n and k may be any number. Sums are taken in float32, and
   rounded to the type once, when they are stored. With k = 0 all of C is 0. C does not overlap A or B. */
struct product_args {
    size_t m, n, k;
    enum dtype dtype;
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *a, *b;
    void *c;
};

/* Launches on `stream` and returns the launch's error, cudaErrorInvalidValue for arguments that it cannot take, or
   cudaErrorNotSupported for what this chip or this kernel lacks. It allocates nothing and does not wait. */
typedef cudaError_t product_launcher(const struct product_args *args, cudaStream_t stream);

/* A row of the table of kernels. */
struct product_kernel {
    struct kernel_info info;
    product_launcher *forward;
    size_t k_of, n_of; /* it takes multiples of so many; 0: any */
};

#ifdef __cplusplus
}
#endif
#endif
