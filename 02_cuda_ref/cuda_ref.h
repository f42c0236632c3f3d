/* cuda_ref.h - chapter 02: one GPU thread per sequence. */
#ifndef CUDA_REF_H
#define CUDA_REF_H

#include "../common/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One thread a block, so a warp with 31 idle lanes. All four directions. Up to 2^31 - 1 sequences. */
linrec_launcher cuda_ref_one_per_block_forward, cuda_ref_one_per_block_backward;

/* 128 threads a block, each with a sequence of its own. All four directions. Up to 128 (2^31 - 1) sequences. */
linrec_launcher cuda_ref_full_blocks_forward, cuda_ref_full_blocks_backward;

/* The threads of a block of full_blocks. */
enum { CUDA_REF_THREADS = 128 };

extern const struct linrec_kernel chapter02_kernels[];

#ifdef __cplusplus
}
#endif
#endif
