/* SPDX-License-Identifier: MIT */
/* product_tiles.cu - against product_plain.cu: a block has a tile of 32 x 32 elements of C, and walks with it along a
   band of A and down a band of B, 32 steps at a time. Of each it loads a tile of 32 x 32 into shared memory, an element
   a thread, and from there every element is used 32 times.

                               B     |  tile  |
                                     |   ||   |
              A                      |   vv   |          one block: 1024 threads, thread (x, y) has c[y][x]
       -------------------------     +--------+
         tile  ==>                   |  32 x  |          for each pair of tiles: load, barrier, 32 steps, barrier
       -------------------------     |  32 c  |
                                     +--------+

   What lies outside of A or B is loaded as 0, which adds nothing: no step of the loop asks where an edge is. */
#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "product_begin.h"
#include "product_kernels.h"

enum { TILE = 32 };

template <int dtype>
static __global__ void __launch_bounds__(TILE *TILE)
    product_tiles_kernel(size_t m, size_t n, size_t k, const void *__restrict__ a, const void *__restrict__ b,
                         void *__restrict__ c)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t tiles_across = (n + TILE - 1) / TILE;
    const size_t i = blockIdx.x / tiles_across * TILE + y;
    const size_t j = blockIdx.x % tiles_across * TILE + x;

    float sum = 0.0f;
    for (size_t first = 0; first < k; first += TILE) {
        a_tile[y][x] = i < m && first + x < k ? read1<dtype>(a, i * k + first + x) : 0.0f;
        b_tile[y][x] = first + y < k && j < n ? read1<dtype>(b, (first + y) * n + j) : 0.0f;
        __syncthreads(); /* the tiles are there */
        for (int l = 0; l < TILE; l++)
            sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads(); /* nobody needs them any more */
    }
    if (i < m && j < n)
        write1<dtype>(c, i * n + j, sum);
}

typedef void tiles_kernel(size_t, size_t, size_t, const void *, const void *, void *);

extern "C" cudaError_t product_tiles(const struct product_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = product_begin(args, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t blocks = product_num_tiles(args, TILE, TILE);
    if (blocks == 0)
        return cudaErrorInvalidValue;
    tiles_kernel *const kernel =
        by_dtype(args->dtype, product_tiles_kernel<FLOAT32>, product_tiles_kernel<BF16>, product_tiles_kernel<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, dim3(TILE, TILE), 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, args->a, args->b, args->c);
}
