/* SPDX-License-Identifier: MIT */
/* tma.h - bulk copies by the TMA, the Tensor Memory Accelerator (sm_90): one thread asks for a whole piece of memory, a
   barrier in shared memory tells when it has come. No register is held and no other thread is busy while the bytes fly.

       one thread                          the TMA                              all threads
       mbarrier_expect(barrier, bytes)
       tma_load(to, from, bytes, barrier) ----> reads global memory,
                                                writes shared memory,
                                                counts bytes at the barrier --> mbarrier_wait(barrier, parity) returns

   An mbarrier is a 64-bit word in shared memory. It goes through phases: a phase ends when as many threads as it was
   initialised for have arrived, and all bytes that they announced have come. mbarrier_wait waits for the end of the
   phase with the given parity: 0 for the first phase, 1 for the second, 0 for the third, ...

   Of an array of three dimensions it copies a box, which a tensor map describes (tensor_map.h); and it stores one. A
   store counts at no barrier; the thread that has asked waits for it:

       one thread                          the TMA
       tma_store_box(map, x, y, z, from)   ----> reads shared memory, ----> writes global memory
       tma_store_commit()                                             |
       tma_store_wait_read() returns <--------------------------------+

   This header is to these instructions what CUDA's cuda_pipeline.h is to cp.async: CUDA C has no words for them, so
   they are PTX here (PTX ISA, "mbarrier" and "cp.async.bulk"). Below sm_90 the functions exist, so that kernels
   compile, and trap. The simulator has them in sim_tma.h. */
#ifndef TMA_H
#define TMA_H

#include <cuda.h> /* CUtensorMap */

#ifdef CUSIM
#include <sim_tma.h>
#else

#include <stdint.h>

static __device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* Prepares a barrier for phases of `arrivals` arrivals. One thread calls it; others may use the barrier after
   mbarrier_init_done by the same thread and a __syncthreads by all. */
static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
#else
    __trap();
#endif
}

/* Makes initialised barriers visible to the TMA. */
static __device__ __forceinline__ void mbarrier_init_done(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/* Orders what this thread has read or written in shared memory by ordinary loads and stores before what the TMA
   does there for requests that come later. After it the threads still need a barrier before one of them asks. */
static __device__ __forceinline__ void fence_proxy_async(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Arrives, and announces that `bytes` will be copied in this phase. */
static __device__ __forceinline__ void mbarrier_expect(uint64_t *barrier, unsigned bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
#else
    __trap();
#endif
}

/* Arrives: what this thread has done before is done for those who wait for the phase. */
static __device__ __forceinline__ void mbarrier_arrive(uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
    __trap();
#endif
}

/* Waits until the phase of that parity has ended; what was copied in it can then be read. */
static __device__ __forceinline__ void mbarrier_wait(uint64_t *barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
#else
    __trap();
#endif
}

/* Copies `bytes` (a multiple of 16) from global to shared memory, both aligned to 16 bytes. The barrier counts them. */
static __device__ __forceinline__ void tma_load(void *shared, const void *global, unsigned bytes, uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(shared)), "l"(global), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
#else
    __trap();
#endif
}

/* Copies a box from global memory to shared memory, aligned to 128 bytes: the one of the map's size whose first
   element has the coordinates (x, y, z), x the innermost one. Its rows lie there one behind the other. What of it
   lies outside of the array is 0; coordinates may be negative. x times the element's size is a multiple of 16, or the
   instruction is illegal (cudaErrorIllegalInstruction; measured, PTX does not say so). The barrier counts all bytes
   of the box, the zeros, too. `map`: a parameter of the kernel, const __grid_constant__ CUtensorMap. */
static __device__ __forceinline__ void tma_load_box(void *shared, const CUtensorMap *map, int x, int y, int z,
                                                    uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(shared_address(shared)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
                 : "memory");
#else
    __trap();
#endif
}

/* Copies a box from shared to global memory. What of the box lies outside of the array is not written; but a row whose
   length is no multiple of 16 bytes is written up to the next one, and with a negative coordinate the instruction is
   illegal (both measured on an H200; PTX does not say so). Threads that have written to `shared` call
   fence_proxy_async before, and meet at a barrier. It is in global memory by the end of the kernel. */
static __device__ __forceinline__ void tma_store_box(const CUtensorMap *map, int x, int y, int z, const void *shared)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(shared))
                 : "memory");
#else
    __trap();
#endif
}

/* Makes one group of the stores that this thread has asked for since the last call. */
static __device__ __forceinline__ void tma_store_commit(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
    __trap();
#endif
}

/* Waits until the committed stores of this thread have read their shared memory: it may be written again, or the thread
   end. Others learn that at a barrier. */
static __device__ __forceinline__ void tma_store_wait_read(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#else
    __trap();
#endif
}

/* Asks the L2 cache for the line of an address in global memory, and waits for nothing. Any GPU has it. Results do not
   depend on it, nor on the hints below, so the simulator ignores them. */
static __device__ __forceinline__ void l2_prefetch(const void *global)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
#endif
}

/* tma_load with a hint to the L2 cache: which lines it should give up first, or last, when it needs room. */
static __device__ __forceinline__ uint64_t l2_evict_first(void)
{
    uint64_t hint = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(hint));
#endif
    return hint;
}

static __device__ __forceinline__ uint64_t l2_evict_last(void)
{
    uint64_t hint = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(hint));
#endif
    return hint;
}

static __device__ __forceinline__ void tma_load_hint(void *shared, const void *global, unsigned bytes,
                                                     uint64_t *barrier, uint64_t hint)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;"
                 :
                 : "r"(shared_address(shared)), "l"(global), "r"(bytes), "r"(shared_address(barrier)), "l"(hint)
                 : "memory");
#else
    __trap();
#endif
}

#endif /* CUSIM */
#endif
