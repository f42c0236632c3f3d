/* SPDX-License-Identifier: MIT */
/* cuda_ref.h - chapter 02: one GPU thread per sequence. Each variant stands whole in the .cu file of its name. */
#ifndef CUDA_REF_H
#define CUDA_REF_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CUDA_REF_THREADS = 128,          /* in a block of full_blocks and of all_ways */
    CUDA_REF_MAX_BLOCKS = 0x7FFFFFFF /* in a grid: 2^31 - 1, CUDA's own limit */
};

linrec_launcher cuda_ref_one_per_block_forward;
linrec_launcher cuda_ref_full_blocks_forward;
linrec_launcher cuda_ref_all_ways_forward, cuda_ref_all_ways_backward;

extern const struct linrec_kernel chapter02_kernels[];

#ifdef __cplusplus
}
#endif
#endif
