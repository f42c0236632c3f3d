/* SPDX-License-Identifier: MIT */
/* cluster.h - thread block clusters (sm_90): up to 16 blocks that run at the same time on neighbouring multiprocessors,
   can wait for each other, and reach each other's shared memory.

       block of rank 0                          block of rank 1
       __shared__ float sum[2];                 __shared__ float sum[2];
       cluster_arrive_relaxed()                 cluster_arrive_relaxed()
       cluster_wait()                           cluster_wait()                              both have begun
       to = cluster_shared(sum, 1)
       to[0] = ...  --------------------------> sum[0]
       cluster_arrive()                         cluster_arrive()
       cluster_wait()                           cluster_wait()                              sum[0] is there

   The launch says how many blocks are a cluster (cudaLaunchKernelEx, cudaLaunchAttributeClusterDimension); they are
   numbered as in the grid, and the grid has whole clusters. Up to 8 blocks any such chip takes. For more, up to 16, a
   kernel needs cudaFuncAttributeNonPortableClusterSizeAllowed, and a chip may have no room for them. A launch without
   the attribute makes each block a cluster of its own.

   All threads of the cluster come to its barrier, the lanes of a warp together: first arrive, then wait. What a thread
   did before it arrived is done for those that have waited; between the two it may do what concerns nobody else. Nobody
   may touch a block's shared memory before the block has begun, which a first barrier tells, nor after it may have
   ended: the last access and the end need a barrier between them.

   A barrier of all threads is much if one block only has a word for another. cluster_send stores it there and counts
   its bytes at an mbarrier there (tma.h), for whose phase the other block waits. Nobody waits for the sender:

       block of rank 0                          block of rank 1
                                                mbarrier_expect(&told, 8)
       cluster_send(&word, value, &told, 1) --> word, 8 bytes of told
                                                cluster_receive(&told, 0)                    word is there

   CUDA C has these as classes of cooperative groups (this_cluster(), map_shared_rank). Here they are plain functions
   around the PTX (PTX ISA, "barrier.cluster" and "mapa"), as in tma.h. Below sm_90 they exist, so that kernels
   compile, and trap. The simulator has them in sim_cluster.h. */
#ifndef CLUSTER_H
#define CLUSTER_H

#ifdef CUSIM
#include <sim_cluster.h>
#else

#include "tma.h"

/* The block's number in its cluster, and how many blocks that has. */
static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#else
    __trap();
#endif
    return rank;
}

static __device__ __forceinline__ unsigned cluster_size(void)
{
    unsigned size = 1;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#else
    __trap();
#endif
    return size;
}

/* Comes to the barrier of the cluster and goes on. What this thread has done before is done for those who wait. */
static __device__ __forceinline__ void cluster_arrive(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
    __trap();
#endif
}

/* The same, and promises nothing of what this thread has done: tells only that it has come so far. */
static __device__ __forceinline__ void cluster_arrive_relaxed(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;");
#else
    __trap();
#endif
}

/* Waits until all threads of the cluster have come to the barrier. The thread itself has, by one of the calls above. */
static __device__ __forceinline__ void cluster_wait(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __trap();
#endif
}

/* Where the block of that rank has what this block has at `shared`, in its own shared memory. */
static __device__ __forceinline__ void *cluster_shared(void *shared, unsigned rank)
{
#if __CUDA_ARCH__ >= 900
    void *there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
    return there;
#else
    __trap();
    return shared;
#endif
}

/* Stores 8 bytes where the block of that rank has what this block has at `shared`, and counts them at its mbarrier,
   this block's `barrier`. Goes on at once. Let the value say all: who gets it knows that this thread has read what the
   value was made of, but what it has written elsewhere may come later. (PTX ISA, "st.async") */
static __device__ __forceinline__ void cluster_send(void *shared, unsigned long long value, uint64_t *barrier,
                                                    unsigned rank)
{
#if __CUDA_ARCH__ >= 900
    uint32_t word, count;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(word) : "r"(shared_address(shared)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count) : "r"(shared_address(barrier)), "r"(rank));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(word), "l"(value),
                 "r"(count)
                 : "memory");
#else
    __trap();
#endif
}

/* mbarrier_wait for a phase to which blocks of the cluster have sent: what they sent can then be read. */
static __device__ __forceinline__ void cluster_receive(uint64_t *barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
#else
    __trap();
#endif
}

#endif /* CUSIM */
#endif
