/* SPDX-License-Identifier: MIT */
/* ldmatrix.h - a warp loads four matrices of 8 x 8 elements of 16 bits from shared memory into registers, in the order
   in which mma.sync wants them (mma_sync.h; sm_75), or stores them from there (sm_90). A row of a matrix is 16 bytes,
   aligned to 16, and may lie anywhere:
   lane 8 i + r says where row r of matrix i is. Lane 4 l + j then holds

       ldmatrix4              m[i] = elements 2 j and 2 j + 1 of row l of matrix i
       ldmatrix4_transposed   m[i] = elements l of the rows 2 j and 2 j + 1
       stmatrix4_transposed   stores what ldmatrix4_transposed loads

   So from a, 16 x 16, whose rows lie in memory, the matrices of the upper left, the lower left, the upper right and the
   lower right quarter are a[0] ... a[3]; and from b, 16 x 16, whose rows lie in memory, transposed, the same quarters
   are b[0], b[1] of its first eight columns, and b[0], b[1] of the others. Lane's own row of either is

       row lane % 16 of the 16, and of that row the 16 bytes number lane / 16

   The eight rows of a matrix are read or written at once. They meet in no bank if the 16 bytes lie in different ones.
   CUDA C has no words for this, so it is PTX (PTX ISA, "ldmatrix" and "stmatrix"). The simulator has it in
   sim_ldmatrix.h. */
#ifndef LDMATRIX_H
#define LDMATRIX_H

#ifdef CUSIM
#include <sim_ldmatrix.h>
#else

/* row: in shared memory. All lanes of a warp call it together. */
static __device__ __forceinline__ void ldmatrix4(unsigned m[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

static __device__ __forceinline__ void ldmatrix4_transposed(unsigned m[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

/* Below sm_90 it exists, so that kernels compile, and traps. */
static __device__ __forceinline__ void stmatrix4_transposed(void *row, const unsigned m[4])
{
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     (unsigned)__cvta_generic_to_shared(row)),
                 "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
#else
    (void)row, (void)m;
    __trap();
#endif
}

#endif /* CUSIM */
#endif
