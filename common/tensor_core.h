/* tensor_core.h - a warp multiplies small matrices on the tensor cores (sm_80). One instruction adds to a 16 x 8 matrix
   c the product of a, 16 x n, and b, n x 8. The 32 lanes hold them together.

   mma_tf32: n is 8, and a and b are tf32: float32 whose last 13 bits of the fraction do not count, so that 10 are left.
   Lane 4 l + j holds the elements

       a[0] = a(l, j)     a[2] = a(l, j + 4)          b[0] = b(j, l)          c[0], c[1] = c(l, 2 j), c(l, 2 j + 1)
       a[1] = a(l + 8, j) a[3] = a(l + 8, j + 4)      b[1] = b(j + 4, l)      c[2], c[3] = the same of row l + 8

   mma_bf16: n is 16, and a and b are bf16, two in a word, the first in its lower half. c is as above, and

       a[0] = a(l, 2 j), a(l, 2 j + 1)                a[2] = a(l, 2 j + 8), a(l, 2 j + 9)
       a[1] = the same of row l + 8                   a[3] = the same of row l + 8
       b[0] = b(2 j, l), b(2 j + 1, l)                b[1] = b(2 j + 8, l), b(2 j + 9, l)

   load_matrices brings such words from shared memory: four 8 x 8 matrices of 16-bit elements, whose rows are 16 bytes
   each, anywhere. Lane 8 m + r says where row r of matrix m is, at a multiple of 16. Lane 4 l + j gets of each matrix

       load_matrices              elements 2 j and 2 j + 1 of row l
       load_matrices_transposed   elements l of rows 2 j and 2 j + 1

   Products are exact, and sums of at least float32's precision, but rounded in a way that NVIDIA does not say.

   CUDA C has words for larger pieces alone (mma.h), which hide where an element is, so this is PTX (PTX ISA,
   "mma.sync" and "ldmatrix"). Below sm_80 the products exist, so that kernels compile, and trap. The simulator brings a
   header of the same name. */
#ifndef TENSOR_CORE_H
#define TENSOR_CORE_H

#include <stdint.h>

/* c += a b. All lanes of a warp call these functions together. */
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

static __device__ __forceinline__ void load_matrices(unsigned words[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

static __device__ __forceinline__ void load_matrices_transposed(unsigned words[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

#endif
