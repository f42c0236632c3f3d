/* SPDX-License-Identifier: MIT */
/* finding.h - comparing a result with what it must be: the error over its bound, and what a check has found so far.

   The same lines run on the host and, in an operation's check on the device, there. */
#ifndef FINDING_H
#define FINDING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/host_device.h"
#include "../base/dtype.h"

/* What a check found. It begins as FINDING_NOTHING. */
struct finding {
    double max_error;             /* largest error over its bound; above 1 is wrong, infinity where NaN decides */
    unsigned long long num_bad;   /* elements past their bound */
    unsigned long long first_bad; /* the lowest place of those (finding_place), or ULLONG_MAX */
    double expected, bound, got;  /* of that element; set on the host alone */
};

#define FINDING_NOTHING                                                                                                \
    {                                                                                                                  \
        0.0, 0, ~0ull, 0.0, 0.0, 0.0                                                                                   \
    }

/* Where an element stands, as one number: which array of the operation, and the element's place in it. */
static inline HOST_DEVICE unsigned long long finding_place(int array, size_t index)
{
    return (unsigned long long)array << 56 | index;
}

static inline int finding_array(unsigned long long place)
{
    return (int)(place >> 56);
}

static inline HOST_DEVICE size_t finding_index(unsigned long long place)
{
    return (size_t)(place & (((unsigned long long)1 << 56) - 1));
}

/* Whether a value is still the poison that was there before the launch: all bits set,
   a NaN that no arithmetic gives. */
static inline HOST_DEVICE bool is_poison(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == 0xFFFFFFFFu;
}

/* The error over its bound, infinity where it cannot be said. A bound of 0: exactly that. A NaN that should be there
   must be there; an infinity may have turned into NaN (infinity times a product that underflowed) but not into anything
   else. What was not written at all is wrong, whatever it should be. */
static inline HOST_DEVICE double error_over_bound(float got, double expected, double bound)
{
    if (is_poison(got))
        return (double)INFINITY;
    if (isnan(expected))
        return isnan(got) ? 0.0 : (double)INFINITY;
    if (isinf(expected))
        return isnan(got) || got == expected ? 0.0 : (double)INFINITY;
    const double error = got == expected ? 0.0 : fabs(got - expected) / bound;
    return isnan(error) ? (double)INFINITY : error;
}

/* Compares one element and adds what comes of it. */
static inline HOST_DEVICE void finding_add(struct finding *finding, int array, size_t index, float got, double expected,
                                           double bound)
{
    const double error = error_over_bound(got, expected, bound);
    const unsigned long long place = finding_place(array, index);
    finding->max_error = fmax(finding->max_error, error);
    if (error <= 1.0)
        return;
    finding->num_bad++;
    if (place < finding->first_bad) {
        finding->first_bad = place;
        finding->expected = expected;
        finding->bound = bound;
        finding->got = got;
    }
}

/* The same of element `index` of an array kept in a type of dtype.h. `expected` and `bound` are those of the float
   that the kernel rounds to that type; the rounding is added here, and what may overflow may have become infinite. */
static inline HOST_DEVICE void finding_add_stored(struct finding *finding, int array, size_t index, enum dtype dtype,
                                                  const void *values, double expected, double bound)
{
    const float got = dtype_get(dtype, values, index);
    const double most = fabs(expected) + bound;
    if (dtype != FLOAT32 && isinf(got) && most >= dtype_overflow(dtype) && (got > 0.0f) == (expected > 0.0))
        expected = got;
    finding_add(finding, array, index, got, expected, bound + dtype_rounding(dtype, most));
}

#endif
