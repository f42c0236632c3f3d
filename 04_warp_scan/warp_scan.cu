/* warp_scan.cu - chapter 03's tile with another way to combine the threads' results: lanes first, then warps.

       level 1   thread   |e e e e|e e e e| ...      each thread scans its own elements
       level 2   warp     |   32 threads    | ...    the lanes of a warp, by shuffles: five steps
       level 3   block    |       32 warps      |    the warps' totals, through shared memory: one barrier
*/
#include <cuda_runtime.h>

#include "../03_tile/tile.cuh"
#include "warp_scan.cuh"
#include "warp_scan.h"

enum { MAX_THREADS = 1024 };
enum level { IO_ONLY, THREAD, WARP, BLOCK };

template <int elems, int level>
__global__ void __launch_bounds__(MAX_THREADS)
    levels_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                   float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals;
    float x[elems], c[elems];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const size_t row = (size_t)blockIdx.x * seq_len;
    const struct part part = thread_part(seq_len, blockDim.x, threadIdx.x);

    thread_load<elems>(part, inputs + row, coeffs + row, x, c);
    if (level == IO_ONLY)
        thread_carry<elems>(1.0f, x, c); /* x + c, so that both are really loaded */
    if (level >= THREAD)
        thread_scan<elems>(x, c);
    if (level >= WARP) {
        const struct pair own = {c[elems - 1], x[elems - 1]};
        const struct pair up_to_here = warp_scan(own, lane);
        const struct pair before = lane_before(up_to_here, lane);
        float into_warp = 0.0f, carry = 0.0f;
        if (level == BLOCK) {
            block_publish(&totals, up_to_here, warp, lane);
            __syncthreads();
            into_warp = block_collect(&totals, true, &carry, warp, num_warps, lane);
        }
        /* nothing comes into the first warp, nor into its first thread; 0 would not do: 0 * infinity is NaN */
        const bool from_before = level == BLOCK && warp > 0;
        if (threadIdx.x > 0)
            thread_carry<elems>(from_before ? into_warp * before.product + before.sum : before.sum, x, c);
    }
    thread_store<elems>(part, x, outputs + row);
}

/* every size of each level, from chapter 03's list */
#define IO_ONLY_KERNEL(elems, max_threads) levels_forward<elems, IO_ONLY>,
#define THREAD_KERNEL(elems, max_threads) levels_forward<elems, THREAD>,
#define WARP_KERNEL(elems, max_threads) levels_forward<elems, WARP>,
#define BLOCK_KERNEL(elems, max_threads) levels_forward<elems, BLOCK>,
static tile_kernel *const io_only_kernels[] = {TILE_SIZES(IO_ONLY_KERNEL)};
static tile_kernel *const thread_kernels[] = {TILE_SIZES(THREAD_KERNEL)};
static tile_kernel *const warp_kernels[] = {TILE_SIZES(WARP_KERNEL)};
static tile_kernel *const block_kernels[] = {TILE_SIZES(BLOCK_KERNEL)};

extern "C" cudaError_t warp_scan_io_only_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(io_only_kernels, args, stream);
}

extern "C" cudaError_t warp_scan_thread_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(thread_kernels, args, stream);
}

extern "C" cudaError_t warp_scan_warp_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(warp_kernels, args, stream);
}

extern "C" cudaError_t warp_scan_block_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(block_kernels, args, stream);
}
