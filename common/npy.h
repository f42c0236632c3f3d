/* npy.h - NumPy's .npy files: a short header (magic, version, a Python dictionary as text) and the elements.
   Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>

#include "output.h"

struct npy {
    int num_dims;             /* 1: (seq_len,), one sequence; 2: (num_seqs, seq_len) */
    size_t num_seqs, seq_len; /* product of both times 4 fits into ptrdiff_t */
    float *values;            /* from malloc; row-major */
};

/* Reads little-endian float32, float64 or integers of up to 64 bits, C order, 1-D or 2-D, as float32. Returns 0, or 2
   after one line on stderr: no such file, not .npy, another type or order, truncated or too long, a float64 beyond
   float32. */
int npy_read(const char *path, struct npy *array);

/* Writes a float32 array of the shape of `shape` (its values are not looked at). Errors show at output_commit. */
void npy_write(struct output *output, const struct npy *shape, const float *values);

void npy_free(struct npy *array);

#endif
