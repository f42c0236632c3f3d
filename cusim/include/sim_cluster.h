/* SPDX-License-Identifier: MIT */
/* sim_cluster.h - thread block clusters of sm_90: stands in for functions over PTX. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "cuda_runtime.h"
#include "sim_tma.h"

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

/* Stores 8 bytes where the block of that rank has what this block has at `shared`; they count at its mbarrier. As with
   bulk copies they are NaN until a thread waits for the phase. What the sender has written before is taken to be done,
   of which a GPU promises less. */
void cluster_send(void *shared, unsigned long long value, uint64_t *barrier, unsigned rank, SIM_AT);

/* mbarrier_wait for a phase to which blocks of the cluster have sent. */
void cluster_receive(uint64_t *barrier, unsigned parity, SIM_AT);

#endif
