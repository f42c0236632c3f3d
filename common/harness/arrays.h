/* SPDX-License-Identifier: MIT */
/* arrays.h - the arrays of one problem on the device, with guards around what a kernel writes. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "machine.h"
#include "choice.h"
#include "operation.h"

struct arrays {
    struct problem problem; /* what a launch gets */
    enum backend backend;
    choice chosen;            /* what arrays_choose was told */
    void *blocks[MAX_ARRAYS]; /* what cudaMalloc returned, guards included; NULL: not of this pass */
    struct finding *finding;  /* on the device */
};

enum { GUARD_BYTES = 256 };

/* Device bytes that arrays_create takes. SIZE_MAX if they overflow. */
size_t arrays_bytes(const struct operation *operation, const size_t sizes[MAX_SIZES], enum direction direction,
                    enum dtype dtype);

/* Allocates the arrays of a pass, the optional ones too, and chooses what is timed. What a kernel only reads is
   allocated to the byte, so that a memory checker sees a read past its end; what it writes lies between two guards. On
   an error nothing stays allocated. */
cudaError_t arrays_create(struct arrays *arrays, const struct operation *operation, const size_t sizes[MAX_SIZES],
                          enum direction direction, enum dtype dtype, enum backend backend);
void arrays_free(struct arrays *arrays);

/* From now on the problem has the flags that are chosen, and of the optional arrays of its pass those. */
void arrays_choose(struct arrays *arrays, choice chosen);

/* Fills what the pass reads with test data. */
cudaError_t arrays_fill(struct arrays *arrays, const struct data *data);

/* Fills what the pass writes, and the guards, with NaN (all bits set). */
cudaError_t arrays_poison(struct arrays *arrays);

/* The number of guard bytes that are no longer what arrays_poison has written. */
size_t arrays_changed_guards(const struct arrays *arrays);

/* Allocates the workspace that a kernel asks for and sets all its bits, and frees it. */
cudaError_t arrays_take_workspace(struct arrays *arrays, const struct kernel *kernel);
void arrays_drop_workspace(struct arrays *arrays);

/* Launches the kernel once on poisoned outputs, with its workspace; a kernel that has one twice, each time on poisoned
   ones. Waits. */
cudaError_t arrays_launch(struct arrays *arrays, const struct kernel *kernel);

/* Copies to the host the parts [first, first + count), by the first size, of all arrays that the problem has. Arrays
   that do not depend on the first size are copied whole; but those of them that the pass writes are left out, unless
   all parts are copied: they come from all. Returns false if there is no memory or a copy fails; host_free must be
   called all the same. */
bool host_copy(struct problem *host, const struct problem *problem, size_t first, size_t count);

/* Allocates host memory for all arrays of the problem, without values. Returns false if there is none; host_free must
   be called all the same. */
bool host_create(struct problem *host, const struct problem *problem);
void host_free(struct problem *host);

/* The device_check of an operation that has device_samples, and whose check takes samples of a large problem: all
   arrays come to the host for it. cudaErrorMemoryAllocation if that fails, for want of memory or another reason. */
cudaError_t host_check(const struct problem *problem, const struct data *data, int levels, struct finding *finding);

#endif
