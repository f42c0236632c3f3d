/* SPDX-License-Identifier: MIT */
/* tile_descriptor.cuh - the descriptor of a tile in chained.cu, lookback.cu and resident.cu, for other blocks: 8 bytes
   in global memory, written and read at once, so that status and value can never be seen apart. All that a reader needs
   is in these 8 bytes, so accesses are relaxed: they order no other memory. A descriptor is written for the next launch
   after all blocks have left the workspace, which does order that (workspace.cuh).

       status             upper half          lower half
       not published      all bits set        all bits set
       aggregate          product             sum              a carry y leaves the tile as y * product + sum
       inclusive prefix   INCLUSIVE_PREFIX    sum              this sum leaves the tile: all before it is in there

   As a float, all bits set is a NaN. Where a product or a sum is a NaN, another one is written, 0x7FFFFFFF, so that
   data never look like a status. */
#ifndef TILE_DESCRIPTOR_CUH
#define TILE_DESCRIPTOR_CUH

#include <cuda/atomic>

#include "../04_warp_scan/warp_scan.cuh"

#define NOT_PUBLISHED 0xFFFFFFFFFFFFFFFFull
#define INCLUSIVE_PREFIX 0xFFFFFFFFu
#define IDENTITY_DESCRIPTOR 0x3F80000000000000ull /* the product 1, the sum 0 */

static __device__ __forceinline__ void descriptor_write(unsigned long long *to, unsigned upper, unsigned lower)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> descriptor(*to);
    descriptor.store((unsigned long long)upper << 32 | lower, cuda::memory_order_relaxed);
}

static __device__ __forceinline__ unsigned long long descriptor_read(unsigned long long *from)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> descriptor(*from);
    return descriptor.load(cuda::memory_order_relaxed);
}

static __device__ __forceinline__ unsigned descriptor_half(float value)
{
    return value != value ? 0x7FFFFFFFu : __float_as_uint(value);
}

static __device__ __forceinline__ void publish_aggregate(unsigned long long *to, struct pair aggregate)
{
    descriptor_write(to, descriptor_half(aggregate.product), descriptor_half(aggregate.sum));
}

static __device__ __forceinline__ void publish_prefix(unsigned long long *to, float inclusive)
{
    descriptor_write(to, INCLUSIVE_PREFIX, descriptor_half(inclusive));
}

static __device__ __forceinline__ bool descriptor_is_prefix(unsigned long long descriptor)
{
    return (unsigned)(descriptor >> 32) == INCLUSIVE_PREFIX;
}

/* Of a tile that has published. An inclusive prefix has no product: the one here is a NaN. */
static __device__ __forceinline__ struct pair descriptor_pair(unsigned long long descriptor)
{
    const struct pair pair = {__uint_as_float((unsigned)(descriptor >> 32)), __uint_as_float((unsigned)descriptor)};
    return pair;
}

#endif
