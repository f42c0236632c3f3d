/* SPDX-License-Identifier: MIT */
/* wgmma.h - four warps together, a warpgroup, multiply matrices on the tensor cores of sm_90. One instruction adds
   to c, 64 x n, the product of a, 64 x 16, and b, 16 x n, of bf16 or fp16 numbers; n is 32, 64 or 128. a comes from
   registers, two elements in a word, the first in its lower half. Warp w of the four has rows 16 w ... 16 w + 15, and
   its lane 4 l + j

       a[0] = a(l, 2 j), a(l, 2 j + 1)       a[2] = a(l, 2 j + 8), a(l, 2 j + 9)
       a[1] = the same of row l + 8          a[3] = the same of row l + 8
       c[i][0], c[i][1] = c(l, 8 i + 2 j), c(l, 8 i + 2 j + 1)          c[i][2], c[i][3] = the same of row l + 8

   b stays in shared memory, in rows of 64 elements, 128 bytes, one row behind the other from a multiple of 1024 bytes
   on. In row r the 16 bytes that belong at place i are at place i ^ r % 8, so that eight rows have the same 16 bytes in
   different banks (wgmma_place). These rows are b's rows, or its columns, as the instruction is told.

   Or a stays in shared memory, too: 64 rows of 64 elements, swizzled in the same way, of which one instruction takes
   sixteen columns; n then is 64 or 256. Where rows in memory are b's rows and n is more than 64, b lies in pieces of 64
   columns, each 64 rows, 8192 bytes, one behind the other. The TMA copies such rows as swizzled boxes (tensor_map.h).

   The tensor cores work by themselves, while the warps go on:

       wgmma_begin()          what the registers hold is ready for them
       wgmma_multiply(...)    again and again; its registers must be left alone now
       wgmma_commit()         this was a group of products
       wgmma_wait<n>()        until at most the last n groups are not done
       wgmma_done(...)        these registers are read now, while later groups are on their way

   Between what ordinary stores or cp.async write to shared memory and a product with it the PTX ISA wants a
   fence_proxy_async (tma.h): of those who have written, before a barrier, or of those who multiply, behind it.
   Products are exact, and sums of at least float32's precision, but rounded in a way that NVIDIA does not say.

   CUDA C has no words for this, so it is PTX (PTX ISA, "wgmma"), for the target sm_90a: no other chip has these
   instructions. For other targets the functions exist, so that kernels compile, and trap. The simulator has them in
   sim_wgmma.h. */
#ifndef WGMMA_H
#define WGMMA_H

#ifdef CUSIM
#include <sim_wgmma.h>
#else

#include <stdint.h>

/* Where byte `at` of row `row` is, from where b's rows begin. */
static __device__ __forceinline__ unsigned wgmma_place(unsigned row, unsigned at)
{
    return row * 128 + (at ^ row % 8 * 16);
}

/* b: the rows from a multiple of eight on that begins at `first`. */
typedef struct {
    unsigned at;
} wgmma_matrix;

static __device__ __forceinline__ wgmma_matrix wgmma_matrix_of(const void *first)
{
    const wgmma_matrix b = {(unsigned)__cvta_generic_to_shared(first) / 16 | 1 << 16};
    return b;
}

/* The same rows so many bytes further on, a multiple of 1024; or their elements from a 16th, 32nd or 48th on, which are
   32, 64 or 96 bytes further. */
static __device__ __forceinline__ wgmma_matrix wgmma_matrix_at(wgmma_matrix b, unsigned bytes)
{
    b.at += bytes / 16;
    return b;
}

static __device__ __forceinline__ void wgmma_begin(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
    __trap();
#endif
}

static __device__ __forceinline__ void wgmma_commit(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

template <int groups>
static __device__ __forceinline__ void wgmma_wait(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
#endif
}

/* After the wait for c's products: the compiler, which sees no tensor cores at work, shall read c's registers no
   sooner. Where nothing else is on its way it does not. n: c's columns. */
template <int n>
static __device__ __forceinline__ void wgmma_done(float (*c)[4])
{
#pragma unroll
    for (int i = 0; i < n / 2; i++)
        asm volatile("" : "+f"(c[i / 4][i % 4])::"memory");
}

/* The registers of c, and a product's asm: registers can only be named one by one. */
#define WGMMA_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_32 WGMMA_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_64                                                                                                       \
    WGMMA_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                      \
             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_128                                                                                                      \
    WGMMA_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                      \
             "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                        \
             "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "            \
             "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_PRODUCT(n, type, c, a, b, add, layouts)                                                                  \
    "{\n"                                                                                                              \
    ".reg .pred add;\n"                                                                                                \
    "setp.ne.b32 add, " add ", 0;\n"                                                                                   \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" c "}, " a ", " b ", add, 1, 1, " layouts ";\n" \
    "}\n"
#define WGMMA_TILE(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define WGMMA_TILES(i) WGMMA_TILE(i), WGMMA_TILE(i + 1), WGMMA_TILE(i + 2), WGMMA_TILE(i + 3)

/* What the tensor cores are told of a matrix: 128 bytes swizzled, eight rows 1024 bytes behind the last eight. With
   `pieces`, 64 columns 8192 bytes behind the last 64. */
static __device__ __forceinline__ uint64_t wgmma_described(wgmma_matrix matrix, bool pieces)
{
    return (uint64_t)(1u << 30 | 1024 / 16) << 32 | (pieces ? (matrix.at & 0xFFFF) | 8192 / 16 << 16 : matrix.at);
}

/* c = a b, or if `add` c += a b. by_rows: rows in memory are rows of b, not columns; of 128 columns the second 64 are
   then 8192 bytes behind the first ones. All threads of the warpgroup call it together. */
template <int n, bool by_rows, bool is_fp16 = false>
static __device__ __forceinline__ void wgmma_multiply(float (*c)[4], const unsigned a[4], wgmma_matrix b, bool add)
{
    static_assert(n == 32 || n == 64 || n == 128, "n is 32, 64 or 128");
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    const uint64_t right = wgmma_described(b, by_rows && n == 128);
#define FACTORS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(right), "r"((int)add), "n"((int)by_rows)
#define PRODUCT(type)                                                                                                  \
    if constexpr (n == 32)                                                                                             \
        asm volatile(WGMMA_PRODUCT("32", type, WGMMA_16, "{%16, %17, %18, %19}", "%20", "%21", "%22")                  \
                     : WGMMA_TILES(0)                                                                                  \
                     : FACTORS);                                                                                       \
    else if constexpr (n == 64)                                                                                        \
        asm volatile(WGMMA_PRODUCT("64", type, WGMMA_32, "{%32, %33, %34, %35}", "%36", "%37", "%38")                  \
                     : WGMMA_TILES(0), WGMMA_TILES(4)                                                                  \
                     : FACTORS);                                                                                       \
    else                                                                                                               \
        asm volatile(WGMMA_PRODUCT("128", type, WGMMA_64, "{%64, %65, %66, %67}", "%68", "%69", "%70")                 \
                     : WGMMA_TILES(0), WGMMA_TILES(4), WGMMA_TILES(8), WGMMA_TILES(12)                                 \
                     : FACTORS)
    if constexpr (is_fp16)
        PRODUCT("f16");
    else
        PRODUCT("bf16");
#undef PRODUCT
#undef FACTORS
#else
    (void)c, (void)a, (void)b, (void)add;
    __trap();
#endif
}

/* c = a b, or if `add` c += a b, with both in shared memory: a's columns are 16 of the 64 that lie there. n is 64, and
   rows in memory are columns of b, or n is 256, and they are rows of b, in pieces of 64 columns. c[i] belongs to the
   columns 8 i ... 8 i + 7, as above. All threads of the warpgroup call it together. */
template <int n, bool is_fp16>
static __device__ __forceinline__ void wgmma_multiply_shared(float (*c)[4], wgmma_matrix a, wgmma_matrix b, bool add)
{
    static_assert(n == 64 || n == 256, "n is 64 or 256");
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    const uint64_t left = wgmma_described(a, false), right = wgmma_described(b, n == 256);
#define FACTORS "l"(left), "l"(right), "r"((int)add)
#define PRODUCT(type)                                                                                                  \
    if constexpr (n == 64)                                                                                             \
        asm volatile(WGMMA_PRODUCT("64", type, WGMMA_32, "%32", "%33", "%34", "0, 0")                                  \
                     : WGMMA_TILES(0), WGMMA_TILES(4)                                                                  \
                     : FACTORS);                                                                                       \
    else                                                                                                               \
        asm volatile(WGMMA_PRODUCT("256", type, WGMMA_128, "%128", "%129", "%130", "0, 1")                             \
                     : WGMMA_TILES(0), WGMMA_TILES(4), WGMMA_TILES(8), WGMMA_TILES(12), WGMMA_TILES(16),               \
                       WGMMA_TILES(20), WGMMA_TILES(24), WGMMA_TILES(28)                                               \
                     : FACTORS)
    if constexpr (is_fp16)
        PRODUCT("f16");
    else
        PRODUCT("bf16");
#undef PRODUCT
#undef FACTORS
#else
    (void)c, (void)a, (void)b, (void)add;
    __trap();
#endif
}
#undef WGMMA_TILES
#undef WGMMA_TILE
#undef WGMMA_PRODUCT
#undef WGMMA_128
#undef WGMMA_64
#undef WGMMA_32
#undef WGMMA_16

#endif /* CUSIM */
#endif
