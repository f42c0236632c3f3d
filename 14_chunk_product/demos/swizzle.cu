/* SPDX-License-Identifier: MIT */
/* swizzle.cu - a warp brings a tile of 64 x 64 elements of 16 bits into shared memory, in rows of 128 bytes, and loads
   all of its fragments by ldmatrix: from rows as they lie, and from swizzled ones (tensor_cores.md).

       14_chunk_product_swizzle

   Prints whether each lane has what ldmatrix.h says. The simulator counts the bank conflicts. */
#include <cuda_runtime.h>

#include "../../common/cuda/ldmatrix.h"

#include <stdint.h>
#include <stdio.h>

enum { SIDE = 64, PIECES = 8, COUNT = SIDE * SIDE, WORDS = COUNT / 2 };

/* fragments: m[0] ... m[3] of each lane, for each 16 x 16 elements. */
static __device__ __forceinline__ void load_all(const uint4 *tile, uint4 *fragments, bool is_swizzled)
{
    __shared__ __align__(128) uint4 rows[SIDE][PIECES];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < SIDE * PIECES; i += 32) {
        const unsigned row = i / PIECES, piece = i % PIECES;
        rows[row][is_swizzled ? piece ^ row % 8 : piece] = tile[i];
    }
    __syncwarp();
    for (unsigned at = 0; at < 16; at++) {
        const unsigned row = at / 4 * 16 + lane % 16, piece = at % 4 * 2 + lane / 16;
        unsigned m[4];
        ldmatrix4(m, &rows[row][is_swizzled ? piece ^ row % 8 : piece]);
        fragments[at * 32 + lane] = make_uint4(m[0], m[1], m[2], m[3]);
    }
}

static __global__ void as_they_lie(const uint4 *tile, uint4 *fragments)
{
    load_all(tile, fragments, false);
}

static __global__ void swizzled(const uint4 *tile, uint4 *fragments)
{
    load_all(tile, fragments, true);
}

/* How many words of the lanes are not what they should be, if element i of the tile is i. */
static int wrong_of(const uint32_t *fragments)
{
    int wrong = 0;
    for (int at = 0; at < 16; at++)
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < 4; i++) {
                const int row = at / 4 * 16 + lane / 4 + i % 2 * 8, column = at % 4 * 16 + lane % 4 * 2 + i / 2 * 8;
                const uint32_t first = (uint32_t)(row * SIDE + column);
                wrong += fragments[(at * 32 + lane) * 4 + i] != (first | (first + 1) << 16);
            }
    return wrong;
}

int main(void)
{
    static uint16_t elements[COUNT];
    static uint32_t got[2][WORDS];
    char *tile, *fragments;
    for (int i = 0; i < COUNT; i++)
        elements[i] = (uint16_t)i;
    cudaError_t error = cudaMalloc(&tile, sizeof elements);
    if (error == cudaSuccess)
        error = cudaMalloc(&fragments, sizeof got);
    if (error == cudaSuccess)
        error = cudaMemcpy(tile, elements, sizeof elements, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        as_they_lie<<<1, 32>>>((const uint4 *)tile, (uint4 *)fragments);
        swizzled<<<1, 32>>>((const uint4 *)tile, (uint4 *)(fragments + sizeof got[0]));
        error = cudaMemcpy(got, fragments, sizeof got, cudaMemcpyDeviceToHost);
    }
    if (error != cudaSuccess) {
        printf("swizzle: %s\n", cudaGetErrorString(error));
        return 1;
    }
    const int wrong[2] = {wrong_of(got[0]), wrong_of(got[1])};
    printf("words that are wrong: %d as the rows lie, %d swizzled\n", wrong[0], wrong[1]);
    return wrong[0] + wrong[1] != 0;
}
