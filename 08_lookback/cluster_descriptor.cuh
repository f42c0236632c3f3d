/* SPDX-License-Identifier: MIT */
/* cluster_descriptor.cuh - the descriptors that the clusters of persistent_cluster.cu and
   persistent_cluster_backward.cu publish, and their look-back. The descriptors lie in a ring in global memory, with
   room for PC_RING rounds, so they stay in the L2 cache. Each is two words of 8 bytes, and one half of each word is the
   number of its round: a reader sees which round it has found. So no other memory has to be seen with a word, and
   relaxed accesses are enough. That a word is not replaced before all have read it is in PC_RING's comment. Each step
   there is a value that was made of the one before, or a wait that has ended: the new word depends on the end of each
   look at the old one, and no read returns what depends on its own end (PTX ISA, memory consistency model, "no thin
   air").

       words      | round, product | round, sum |
       ring       | round 0: cluster 0, 1, ... | round 1: cluster 0, 1, ... | ... | round PC_RING - 1: ... |
       later      | round PC_RING              | round PC_RING + 1          | ...                                 */
#ifndef CLUSTER_DESCRIPTOR_CUH
#define CLUSTER_DESCRIPTOR_CUH

#include "persistent_cluster.h"
#include "workspace.cuh"

/* The two words of a cluster's tile in a round. */
static __device__ __forceinline__ unsigned long long *cluster_descriptor(struct workspace *space, unsigned round,
                                                                         unsigned cluster)
{
    return &space->descriptors[2 * (round % PC_RING * (gridDim.x / PC_BLOCKS) + cluster)];
}

/* What the cluster tiles before this cluster's tile of that round do together: the last one of each cluster, or only
   the last `count` of them, if the sequence has no more. Each lane reads the descriptor of one cluster tile, and joins
   it or not. Lane 0 has the first one that is joined. The lanes behind the last joined one have tiles of the sequence
   before, for which they only wait, so that no cluster gets further ahead than the ring is long. (They stand behind,
   because whatever is joined in front of a sequence's first tile is multiplied by its product, which may be infinite.)
   All lanes of a warp call it. */
static __device__ __forceinline__ struct pair cluster_look_back(struct workspace *space, unsigned round, unsigned count,
                                                                int lane)
{
    const unsigned num_clusters = gridDim.x / PC_BLOCKS, joined = count < num_clusters ? count : num_clusters;
    const bool is_joined = (unsigned)lane < joined;
    const unsigned back = is_joined ? joined - lane : joined + num_clusters - lane; /* the lane's tile, counted back */
    const unsigned at = blockIdx.x / PC_BLOCKS + num_clusters - back;
    const bool is_now = at >= num_clusters; /* of this round, and else of the last one */
    const unsigned of_round = is_now ? round : round - 1;
    const bool has_tile = (unsigned)lane < num_clusters && (is_now || round > 0);
    unsigned long long *const words = cluster_descriptor(space, of_round, is_now ? at - num_clusters : at);
    unsigned long long product = has_tile ? descriptor_read(&words[0]) : (unsigned long long)of_round << 32;
    unsigned long long sum = has_tile ? descriptor_read(&words[1]) : (unsigned long long)of_round << 32;
    while (product >> 32 != of_round || sum >> 32 != of_round) { /* a do loop around it all takes 8 % longer */
        product = descriptor_read(&words[0]);
        sum = descriptor_read(&words[1]);
    }
    struct pair mine = {1.0f, 0.0f};
    if (is_joined)
        mine.product = __uint_as_float((unsigned)product), mine.sum = __uint_as_float((unsigned)sum);
    return pair_shfl(warp_scan(mine, lane), 31);
}

#endif
