/* SPDX-License-Identifier: MIT */
/* kernels.h - the attributes of kernels, and how many blocks of one fit a multiprocessor. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include "../include/cuda_runtime.h"

#include <stddef.h>

/* What a kernel has been given, kept from one launch to the next. */
struct sim_kernel_info {
    const void *kernel;
    size_t max_dynamic;  /* dynamic shared memory that it may ask for */
    size_t static_bytes; /* static shared memory seen so far */
    int carveout;
    bool large_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed */
    dim3 cluster;        /* __cluster_dims__, 0: none */
};
struct sim_kernel_info *sim_find_kernel(const void *kernel);

/* The cluster of a launch that asks for `asked`, (1,1,1) if it asks for none. */
dim3 sim_cluster_of(const void *kernel, dim3 asked);

/* Blocks that fit a multiprocessor by threads (whole warps), by shared memory and by number. Registers are not known.
   CUSIM_RESIDENT makes a smaller device: all multiprocessors together have no more blocks than it says. */
unsigned sim_blocks_per_sm(const struct sim_kernel_info *info, unsigned num_threads, size_t dynamic_shared);

#endif
