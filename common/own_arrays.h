/* own_arrays.h - one kernel on the reader's own .npy files. */
#ifndef OWN_ARRAYS_H
#define OWN_ARRAYS_H

#include "arrays.h"
#include "npy.h"
#include "options.h"

struct own_arrays {
    bool backward;
    struct npy shape;       /* of all of them; no values */
    struct npy read[3];     /* inputs, coeffs; or d_outputs, coeffs, outputs */
    const char *written[2]; /* paths: outputs; or d_inputs, d_coeffs */
    int num_read, num_written;
};

/* Reads the files that the options name, and checks that the set is complete, the shapes agree and the outputs can be
   written. Returns 0, or 2 after one line on stderr. */
int own_arrays_read(struct own_arrays *own, const struct options *options);

/* Runs the kernel, reversed and in the shape that the options say, and writes what it computes. Returns 0, 1 when the
   launch failed, or 2 when the kernel does not take that shape here or a file could not be written. */
int own_arrays_run(struct own_arrays *own, const struct linrec_kernel *kernel, const struct options *options);

void own_arrays_free(struct own_arrays *own);

#endif
