/* SPDX-License-Identifier: MIT */
/* npy.h - NumPy's .npy files: a short header (magic, version, a Python dictionary as text) and the elements.
   Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>

#include "output.h"
#include "dtype.h"

enum { NPY_MAX_DIMS = 8 };

struct npy {
    int num_dims;
    size_t dims[NPY_MAX_DIMS]; /* the shape, outermost first; as bytes of float64 the whole fits into ptrdiff_t */
    float *values;             /* from malloc; row-major */
};

/* Reads little-endian float16, float32, float64 or integers of up to 64 bits, C order, 1-D to 8-D, as float32. Returns
   0, or 2 after one line on stderr: no such file, not .npy, another type or order, truncated or too long, a float64
   beyond float32. */
int npy_read(const char *path, struct npy *array);

/* Writes an array of the shape of `shape` (its values are not looked at), kept in that type: fp16 as float16, the
   others as float32, since NumPy has no bf16. Errors show at output_commit. */
void npy_write(struct output *output, const struct npy *shape, enum dtype dtype, const void *values);

void npy_free(struct npy *array);

/* Elements of the shape. */
size_t npy_count(const struct npy *shape);

/* The shape as Python writes it, "(3, 1000)" or "(1000,)". Returns text. */
enum { NPY_SHAPE_TEXT = 24 * NPY_MAX_DIMS };
const char *npy_shape(const struct npy *shape, char text[NPY_SHAPE_TEXT]);

#endif
