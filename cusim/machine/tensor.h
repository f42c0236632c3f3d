/* SPDX-License-Identifier: MIT */
/* tensor.h - arrays as the TMA sees them, and copies of boxes of them. */
#ifndef SIM_TENSOR_H
#define SIM_TENSOR_H

#include <stdint.h>

enum { SIM_TENSOR_RANK = 5 };

/* What cuTensorMapEncodeTiled (runtime/tensor_map.cpp) puts into a CUtensorMap. Dimension 0 is the innermost one. */
struct sim_tensor {
    uint64_t mark; /* sim_tensor_mark: it has been encoded */
    char *base;
    uint64_t sizes[SIM_TENSOR_RANK];       /* elements */
    uint64_t strides[SIM_TENSOR_RANK - 1]; /* bytes, of the dimensions from 1 on */
    uint16_t box[SIM_TENSOR_RANK];         /* elements */
    uint8_t rank, element;                 /* bytes of an element */
    bool swizzled;                         /* rows of 128 bytes, whose 16 bytes number i are at place i ^ row % 8 */
};
static const uint64_t sim_tensor_mark = 0x74656e736f72206d;

/* A thread ends that has asked for stores and not waited for them: faults. */
struct thread;
[[noreturn]] void sim_check_stores(const struct thread *t);

#endif
