/* SPDX-License-Identifier: MIT */
/* sim_shape.h - how an array is divided into elements, so that messages say tile[2][17] and not byte 268. */
#ifndef SIM_SHAPE_H
#define SIM_SHAPE_H

#include <stddef.h>

enum { SIM_MAX_DIMS = 6 };

struct sim_shape {
    size_t element;            /* bytes; 0: not known */
    size_t member;             /* of a float4 and its like: bytes of .x; else 0 */
    bool is_class;             /* a struct: what lies in it is not known */
    bool is_raw;               /* of char: storage that the kernel divides as it likes */
    unsigned rank;             /* number of dimensions; 0: a variable */
    size_t dims[SIM_MAX_DIMS]; /* outermost first; that one is not looked at */
};

#endif
