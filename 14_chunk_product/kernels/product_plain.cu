/* SPDX-License-Identifier: MIT */
/* product_plain.cu - a thread has one element of C: it walks along a row of A and down a column of B, and adds up. A
   block has 8 rows of 32 columns, and a warp one of these rows: its lanes read 32 neighbours of a row of B together,
   and all the same element of A.

                        B    . . | 32 neighbours | . .       step l: lane t reads b[l][j + t]
                             . . |       |       | . .
       A                     . . |       v       | . .
       row i   -> a[i][l] -> . . | c[i][j ... j + 31] |      lane t adds a[i][l] b[l][j + t]                       */
#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "product_begin.h"
#include "product_kernels.h"

enum { COLUMNS = 32, ROWS = 8 };

/* read1 gives an element as float32, in whichever type it is stored; write1 rounds it to that type. */
template <int dtype>
static __global__ void product_plain_kernel(size_t m, size_t n, size_t k, const void *__restrict__ a,
                                            const void *__restrict__ b, void *__restrict__ c)
{
    const size_t blocks_across = (n + COLUMNS - 1) / COLUMNS;
    const size_t i = blockIdx.x / blocks_across * ROWS + threadIdx.y;
    const size_t j = blockIdx.x % blocks_across * COLUMNS + threadIdx.x;
    if (i >= m || j >= n)
        return;
    float sum = 0.0f;
    for (size_t l = 0; l < k; l++)
        sum += read1<dtype>(a, i * k + l) * read1<dtype>(b, l * n + j);
    write1<dtype>(c, i * n + j, sum);
}

typedef void plain_kernel(size_t, size_t, size_t, const void *, const void *, void *);

extern "C" cudaError_t product_plain(const struct product_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = product_begin(args, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t blocks = product_num_tiles(args, ROWS, COLUMNS);
    if (blocks == 0)
        return cudaErrorInvalidValue;
    plain_kernel *const kernel =
        by_dtype(args->dtype, product_plain_kernel<FLOAT32>, product_plain_kernel<BF16>, product_plain_kernel<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, dim3(COLUMNS, ROWS), 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, args->a, args->b, args->c);
}
