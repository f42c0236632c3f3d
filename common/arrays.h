/* arrays.h - the arrays of one shape and pass on the device, with guards around what a kernel writes, and the check of
 * a launch. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "data.h"
#include "linrec.h"
#include "oracle.h"

struct arrays {
    struct linrec_args args; /* what a launcher gets */
    bool backward;
    size_t bytes;                 /* of each array */
    void *blocks[5];              /* what cudaMalloc returned, guards included */
    struct oracle_result *result; /* on the device */
};

enum { GUARD_BYTES = 256 };

/* Device bytes that arrays_create takes. SIZE_MAX if they overflow. */
size_t arrays_bytes(size_t num_seqs, size_t seq_len, bool backward);

/* Allocates the arrays of a pass. What a kernel only reads is allocated to the byte, so that a memory checker sees a
   read past its end; what it writes lies between two guards. On an error nothing stays allocated. */
cudaError_t arrays_create(struct arrays *arrays, size_t num_seqs, size_t seq_len, bool backward);
void arrays_free(struct arrays *arrays);

/* Fills what the pass reads with test data; sets args.reverse. Backward, `outputs` are random numbers: to the backward
   pass they are an input like any other. */
cudaError_t arrays_fill(struct arrays *arrays, const struct data_spec *spec);

/* Fills what the pass writes, and the guards, with NaN (all bits set). */
cudaError_t arrays_poison(struct arrays *arrays);

/* What a check found. `text` is empty when all is right, else one line for the reader. */
struct check {
    double max_error; /* largest error over its bound */
    char text[512];
};

/* Launches `kernel` once on poisoned outputs and checks all that it wrote, and that it wrote nothing else. `on_device`:
   compare on the device; on the host are then compared all rows of a small shape and a few of a large one, and both
   must agree. */
void arrays_check(struct arrays *arrays, const struct linrec_kernel *kernel, const struct data_spec *spec,
                  bool on_device, struct check *check);

/* Calls kernel's launcher for the pass, with the workspace that it asks for. Waits. */
cudaError_t arrays_launch(struct arrays *arrays, const struct linrec_kernel *kernel, bool backward);

/* "forward", "reverse", "backward" or "backward_reverse". */
const char *direction_name(bool backward, bool reverse);

#endif
