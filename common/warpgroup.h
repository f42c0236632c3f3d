/* warpgroup.h - four warps together, a warpgroup, multiply matrices on the tensor cores of sm_90. One instruction adds
   to c, 64 x 32, the product of a, 64 x 16, and b, 16 x 32, of bf16 numbers. a comes from registers, two elements in a
   word, the first in its lower half. Warp w of the four has rows 16 w ... 16 w + 15, and its lane 4 l + j the elements

       a[0] = a(l, 2 j), a(l, 2 j + 1)       a[2] = a(l, 2 j + 8), a(l, 2 j + 9)
       a[1] = the same of row l + 8          a[3] = the same of row l + 8
       c[i][0], c[i][1] = c(l, 8 i + 2 j), c(l, 8 i + 2 j + 1)          c[i][2], c[i][3] = the same of row l + 8

   b stays in shared memory: blocks of 8 x 8 elements, each of 128 bytes that lie one behind the other. Either a column
   of a block is 16 bytes (columns), or a row of it is (rows):

       b(k, n) is in block (k / 8, n / 8)      there, columns: element n % 8 * 8 + k % 8      rows: k % 8 * 8 + n % 8

   The tensor cores work by themselves, while the warps go on:

       warpgroup_begin()                what registers and memory hold is ready for them
       warpgroup_multiply_...(c, ...)   again and again; c and a must be left alone now
       warpgroup_commit()               this was a group of products
       warpgroup_wait<n>()              until at most the last n groups are not done

   Shared memory that was written by ordinary stores or cp.async needs a copy_engine_fence (bulk_copy.h) by the thread
   that has written it, and then a barrier. Products are exact, and sums of at least float32's precision, but rounded in
   a way that NVIDIA does not say.

   CUDA C has no words for this, so it is PTX (PTX ISA, "wgmma"), which needs the target sm_90a: no later chip has these
   instructions. For other targets the functions exist, so that kernels compile, and trap. The simulator brings a header
   of the same name. */
#ifndef WARPGROUP_H
#define WARPGROUP_H

#include <stdint.h>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARPGROUP_PTX(...) asm volatile(__VA_ARGS__)
#else
#define WARPGROUP_PTX(...) __trap()
#endif

/* Where b begins, a multiple of 16 bytes, and how many bytes its blocks lie apart. */
typedef uint64_t warpgroup_matrix;

static __device__ __forceinline__ warpgroup_matrix warpgroup_matrix_of(const void *begin, unsigned apart_k,
                                                                       unsigned apart_n)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(begin);
    return (at & 0x3FFFF) >> 4 | (warpgroup_matrix)(apart_k >> 4) << 16 | (warpgroup_matrix)(apart_n >> 4) << 32;
}

/* The same so many bytes further. */
static __device__ __forceinline__ warpgroup_matrix warpgroup_matrix_at(warpgroup_matrix b, unsigned bytes)
{
    return b + (bytes >> 4);
}

static __device__ __forceinline__ void warpgroup_begin(void)
{
    WARPGROUP_PTX("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void warpgroup_commit(void)
{
    WARPGROUP_PTX("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int groups>
static __device__ __forceinline__ void warpgroup_wait(void)
{
    WARPGROUP_PTX("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/* c = a b, or if `add` c += a b. rows: of b's blocks. All threads of the warpgroup call it together. */
template <int rows>
static __device__ __forceinline__ void warpgroup_multiply(float (*c)[4], const unsigned a[4], warpgroup_matrix b,
                                                          int add)
{
    WARPGROUP_PTX("{\n"
                  ".reg .pred add;\n"
                  "setp.ne.b32 add, %21, 0;\n"
                  "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10,"
                  " %11, %12, %13, %14, %15}, {%16, %17, %18, %19}, %20, add, 1, 1, %22;\n"
                  "}\n"
                  : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
                    "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
                    "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3])
                  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(rows));
}

#endif
