/* SPDX-License-Identifier: MIT */
/* sim_shape.h - the elements that an array is divided into, so that messages say tile[2][17] and not byte 268. */
#ifndef SIM_SHAPE_H
#define SIM_SHAPE_H

#include <stddef.h>

enum { SIM_MAX_DIMS = 6 };

struct sim_field { /* of a struct: its name; NULL ends the list */
    const char *name;
    size_t offset, size, element; /* bytes; an array's element, else all of it */
};

struct sim_shape {
    size_t element;            /* bytes; 0: not known */
    size_t member;             /* of a float4 and its like: bytes of .x; else 0 */
    char kind;                 /* of an element or its members: f floating point, i signed, u unsigned, h half; or 0 */
    bool is_class;             /* a struct */
    bool is_raw;               /* of char: storage that the kernel divides as it likes */
    unsigned rank;             /* number of dimensions; 0: a variable */
    size_t dims[SIM_MAX_DIMS]; /* outermost first; that one is not looked at */
    const struct sim_field *fields; /* of a struct, as far as they are known; or NULL */
};

/* What a copy's pointers say of its elements. */
struct sim_elements {
    size_t size;                  /* bytes of one */
    const unsigned char *padding; /* whether each of these is padding; NULL: none is */
};

#endif
