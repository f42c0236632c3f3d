/* tile.cu - one block per sequence. Chapter 01's three phases: local in registers, carry in shared memory, combine in
   registers.

       block s      |  thread 0  |  thread 1  |  thread 2  | ...
       sequence s   |0  1  2  3  |4  5  6  7  |8  9  10 11 | ...
*/
#include <cuda_runtime.h>

#include "tile.cuh"

enum { MAX_THREADS = 1024 };
enum combine { SERIAL, SHARED };

/* One thread walks over all pairs. Returns what comes into this thread's part. */
static __device__ float carry_serial(float product, float sum, float *products, float *sums)
{
    products[threadIdx.x] = product;
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float carry = sums[0];
        for (unsigned i = 1; i < blockDim.x; i++) {
            const float out = carry * products[i] + sums[i];
            sums[i] = carry; /* what comes into thread i takes the place of its sum */
            carry = out;
        }
    }
    __syncthreads();
    return sums[threadIdx.x];
}

/* All threads, in log2 steps: before the step of distance d a thread holds the pair of the last d threads, afterwards
   of the last 2 d. Two barriers a step: all must have read before any writes, and have written before any reads. */
static __device__ float carry_shared(float product, float sum, float *products, float *sums)
{
    const unsigned t = threadIdx.x;
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        products[t] = product;
        sums[t] = sum;
        __syncthreads();
        if (t >= d) {
            sum = sums[t - d] * product + sum;
            product = products[t - d] * product;
        }
        __syncthreads();
    }
    sums[t] = sum;
    __syncthreads();
    return t > 0 ? sums[t - 1] : 0.0f;
}

template <int elems, int combine>
__global__ void __launch_bounds__(MAX_THREADS)
    tile_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                 float *__restrict__ outputs)
{
    __shared__ float products[MAX_THREADS], sums[MAX_THREADS];
    float x[elems], c[elems]; /* registers: every index below is known at compile time */
    const size_t row = (size_t)blockIdx.x * seq_len;
    const struct part part = thread_part(seq_len, blockDim.x, threadIdx.x);

    thread_load<elems>(part, inputs + row, coeffs + row, x, c);
    thread_scan<elems>(x, c);
    const float carry = combine == SERIAL ? carry_serial(c[elems - 1], x[elems - 1], products, sums)
                                          : carry_shared(c[elems - 1], x[elems - 1], products, sums);
    if (threadIdx.x > 0) /* nothing comes into the first part */
        thread_carry<elems>(carry, x, c);
    thread_store<elems>(part, x, outputs + row);
}

/* every size of both kernels, from the one list */
#define SERIAL_KERNEL(elems, max_threads) tile_forward<elems, SERIAL>,
#define SHARED_KERNEL(elems, max_threads) tile_forward<elems, SHARED>,
static tile_kernel *const serial_kernels[] = {TILE_SIZES(SERIAL_KERNEL)};
static tile_kernel *const shared_kernels[] = {TILE_SIZES(SHARED_KERNEL)};

extern "C" cudaError_t tile_serial_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(serial_kernels, args, stream);
}

extern "C" cudaError_t tile_shared_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return tile_launch(shared_kernels, args, stream);
}
