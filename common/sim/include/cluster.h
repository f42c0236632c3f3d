/* cluster.h - thread block clusters of sm_90: stands in for common/cluster.h and its PTX. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "cuda_runtime.h"

/* The block's number in its cluster, and how many blocks that has. */
unsigned cluster_rank(SIM_AT);
unsigned cluster_size(SIM_AT);

/* Comes to the barrier of the cluster and goes on; relaxed: without a word on what the thread has done before. */
void cluster_arrive(SIM_AT);
void cluster_arrive_relaxed(SIM_AT);

/* Waits until all threads of the cluster have come. */
void cluster_wait(SIM_AT);

/* Where the block of that rank has what this block has at `shared`. */
void *cluster_shared(void *shared, unsigned rank, SIM_AT);

#endif
