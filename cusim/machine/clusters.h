/* SPDX-License-Identifier: MIT */
/* clusters.h - blocks that run at the same time, wait for each other, and reach each other's shared memory. */
#ifndef SIM_CLUSTERS_H
#define SIM_CLUSTERS_H

#include <stdint.h>

#include "block.h"
#include "sizes.h"

/* The blocks of a cluster, by rank. Of a launch without clusters each block is one. */
struct cluster {
    unsigned size, living; /* blocks, and how many of them have not ended */
    struct block *blocks[SIM_MAX_CLUSTER];
    uint64_t phase; /* barriers that all have come to */
    unsigned come;  /* threads that have come to the next one */
    void *known;    /* observers: what those learn who wait at the last one */
};

/* Blocks in a cluster of the launch. */
unsigned sim_cluster_blocks(void);

/* Begins a cluster: of its blocks, which the caller begins, the one in `slot` is the first. */
struct cluster *sim_begin_cluster(unsigned slot);

/* The block of the running block's cluster whose shared memory that region is; NULL: of none, or another's. */
struct sim_region;
const struct block *sim_cluster_owner(const struct sim_region *region);

/* Faults if the running thread must not touch another block's shared memory now. */
void sim_cluster_access(const char *at, unsigned how, const void *pc);

/* Whether a thread of the block waits at an mbarrier, to which another block may send. */
bool sim_may_receive(const struct block *block);

/* Whether a thread of the running block waits for that, or at the barrier of the cluster. */
bool sim_waits_for_cluster(void);

/* Nothing can run any more, and the running block's cluster has come to its barrier in part: says who is missing. */
[[noreturn]] void sim_explain_cluster(void);

/* For observers who forget all: `known` is NULL again. */
void sim_forget_clusters(void);

#endif
