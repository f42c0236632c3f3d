/* SPDX-License-Identifier: MIT */
/* mma_sync.h - a warp multiplies small matrices on the tensor cores (sm_80). One instruction adds to a 16 x 8 matrix
   c the product of a, 16 x 8, and b, 8 x 8. The 32 lanes hold them together, lane 4 l + j the elements

       a[0] = a(l, j)     a[2] = a(l, j + 4)          b[0] = b(j, l)          c[0], c[1] = c(l, 2 j), c(l, 2 j + 1)
       a[1] = a(l + 8, j) a[3] = a(l + 8, j + 4)      b[1] = b(j + 4, l)      c[2], c[3] = the same of row l + 8

   a and b are tf32: float32 whose last 13 bits of the fraction do not count, so that 10 are left.

   Of bf16 and fp16, two of which fit into a register, it takes twice as many: a is 16 x 16, b 16 x 8. Where tf32 has
   column j of a, they have the columns 2 j and 2 j + 1, the first in the lower half, and so with the rows of b:

       a[0] = a(l, 2 j), a(l, 2 j + 1)     a[2] = a(l, 2 j + 8), a(l, 2 j + 9)    b[0] = b(2 j, l), b(2 j + 1, l)
       a[1] = the same of row l + 8        a[3] = the same of row l + 8           b[1] = b(2 j + 8, l), b(2 j + 9, l)

   ldmatrix.h loads registers that hold matrices so. Products are exact, and sums of at least float32's precision, but
   rounded in a way that NVIDIA does not say.

   CUDA C has words for larger pieces alone (mma.h), which hide where an element is, so this is PTX (PTX ISA,
   "mma.sync"). Below sm_80 the function exists, so that kernels compile, and traps. The simulator has it in
   sim_mma_sync.h. */
#ifndef MMA_SYNC_H
#define MMA_SYNC_H

#ifdef CUSIM
#include <sim_mma_sync.h>
#else

#include <stdint.h>

/* c += a b. All lanes of a warp call it together. */
static __device__ __forceinline__ void mma_tf32(float c[4], const float a[4], const float b[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
        " {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#else
    (void)c, (void)a, (void)b;
    __trap();
#endif
}

/* The same of bf16, and of fp16. */
static __device__ __forceinline__ void mma_bf16(float c[4], const unsigned a[4], const unsigned b[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
        " {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    (void)c, (void)a, (void)b;
    __trap();
#endif
}

static __device__ __forceinline__ void mma_fp16(float c[4], const unsigned a[4], const unsigned b[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
        " {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    (void)c, (void)a, (void)b;
    __trap();
#endif
}

#endif /* CUSIM */
#endif
