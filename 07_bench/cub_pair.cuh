/* SPDX-License-Identifier: MIT */
/* cub_pair.cuh - the elements of CUB's scans: pairs (c, x). */
#ifndef CUB_PAIR_CUH
#define CUB_PAIR_CUH

/* What a segment of a sequence does to the value that comes in: y -> y * coeff + value. */
struct pair {
    float coeff, value;
};

/* First `left`, then `right`. */
struct join {
    __host__ __device__ pair operator()(const pair &left, const pair &right) const
    {
        return {left.coeff * right.coeff, left.value * right.coeff + right.value};
    }
};

#endif
