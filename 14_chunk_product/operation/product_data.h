/* SPDX-License-Identifier: MIT */
/* product_data.h - the test data of the product, and what is right, the same on host and device.

   The oracle adds up each element in double. A kernel's sum in float32 of n products that are not zero, in whatever
   order, takes each product through n roundings at most: its own and n - 1 additions, or as many fused ones. So

       |c - c_ref| <= n u (|a[i][0] b[0][j]| + |a[i][1] b[1][j]| + ...),     u = 2^-24

   to first order; a hundredth more is for the rest. Adding a zero rounds nothing. Where elements have 16 bits, the sum
   may come from tensor cores. Their products are exact, and their additions of float32's precision at least (PTX ISA,
   "mma"), rounded in a way that NVIDIA does not say. One that rounds to the nearest number is off by u, any other by
   less than 2 u: this bound is 2 (n + 1) u. The rounding to the type, once, is added by the harness.

   Of large k that is much: at k = 4096 a product that was lost may hide in it. So there are whole numbers up to 3, too.
   Each sum of them is exact in any order, as long as it stays below 2^24, and so their bound is 0. */
#ifndef CHUNK_PRODUCT_PRODUCT_DATA_H
#define CHUNK_PRODUCT_PRODUCT_DATA_H

#include "../../common/harness/finding.h"
#include "../../common/linrec/linrec_data.h"
#include "product_arguments.h"

/* The operation's sizes and arrays, as they are numbered (product_operation.c). */
enum { P_M, P_N, P_K };
enum product_array { P_A, P_B, P_C, NUM_PRODUCT_ARRAYS };

enum product_kind {
    PRODUCT_NORMAL,    /* N(0, 1), the workload that is timed */
    PRODUCT_POSITIVE,  /* in [0, 1): nothing cancels, so a sum that is kept in 16 bits goes astray */
    PRODUCT_WHOLE,     /* whole numbers from -3 to 3: exact */
    PRODUCT_NONFINITE, /* as normal, and every fourth row of A, every fourth column of B holds one NaN or infinity */
    PRODUCT_NUM_KINDS
};

/* The largest k of which each sum of whole numbers is exact: 9 k < 2^24. */
enum { PRODUCT_WHOLE_K = 1 << 20 };

struct product_spec {
    uint64_t seed;
    int kind;
    size_t n, k;
};

/* Element i of A or B. */
static inline HOST_DEVICE float product_value(const struct product_spec *spec, int array, size_t i)
{
    const uint64_t seed = spec->seed + 100 * (uint64_t)array;
    if (spec->kind == PRODUCT_POSITIVE)
        return data_uniform(seed, DATA_INPUTS, i);
    if (spec->kind == PRODUCT_WHOLE)
        return (float)(data_hash(seed, DATA_INPUTS, i) % 7) - 3.0f;
    if (spec->kind == PRODUCT_NONFINITE) {
        const size_t width = array == P_A ? spec->k : spec->n;
        const size_t line = array == P_A ? i / width : i % width, place = array == P_A ? i % width : i / width;
        const uint64_t special = data_hash(seed, DATA_SPECIAL, line);
        if (line % 4 == (array == P_A ? 1 : 2) && place == (special >> 8) % spec->k)
            return special % 2 == 0 ? (float)NAN : (float)INFINITY;
    }
    return data_normal(seed, DATA_INPUTS, i);
}

/* The elements of C that a check takes: one from each of as many stretches of this length. 1, all of C, up to 2^32
   products, and up to 2^18 elements. */
static inline size_t product_stretch(const struct product_args *args)
{
    const size_t count = args->m * args->n, most = (size_t)1 << 18;
    const bool whole = (double)count * (double)args->k <= 0x1p32;
    return whole || count <= most ? 1 : (count + most - 1) / most;
}

/* The one of stretch `number`; of the last stretch it may lie past the end. */
static inline HOST_DEVICE size_t product_sample(const struct product_spec *spec, size_t stretch, size_t number)
{
    return number * stretch + data_hash(spec->seed, DATA_SPECIAL, number) % stretch;
}

/* Compares element `at` of C with the sum in double. */
static inline HOST_DEVICE void product_check_element(const struct product_args *args, int kind, size_t at,
                                                     struct finding *finding)
{
    const size_t i = at / args->n, j = at % args->n;
    double sum = 0.0, size = 0.0, count = 0.0;
    for (size_t l = 0; l < args->k; l++) {
        const double product = (double)dtype_get(args->dtype, args->a, i * args->k + l) *
                               (double)dtype_get(args->dtype, args->b, l * args->n + j);
        sum += product;
        size += fabs(product);
        count += product != 0.0;
    }
    const double roundings = args->dtype == FLOAT32 ? count : 2.0 * (count + 1.0);
    const double bound = kind == PRODUCT_WHOLE ? 0.0 : 1.01 * roundings * 0x1p-24 * size;
    finding_add_stored(finding, P_C, at, args->dtype, args->c, sum, bound);
}

/* ---- the same on the device (product_data.cu) ---- */

#ifdef __cplusplus
extern "C" {
#endif

/* Fills an array of `count` elements. Does not wait. */
cudaError_t product_fill_array(const struct product_spec *spec, int array, enum dtype dtype, void *values,
                               size_t count);

/* Compares C with the oracle, and writes what it has found to *finding, which is on the device. It takes samples
   (product_stretch). Does not wait. */
cudaError_t product_device_check(const struct product_args *args, const struct product_spec *spec,
                                 struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
