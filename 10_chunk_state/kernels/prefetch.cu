/* prefetch.cu - registers.cu with four neighbouring columns a thread, and with the loads of the next chunks on their way:

       x[0..n-1] on their way | use x[0], load chunk n into it | use x[1], load chunk n + 1 into it | ...

   n is what fits in registers. Each x is used n steps after its load was sent. Where dv is no multiple of four a thread
   has one column. */
#include <cuda_runtime.h>

#include "kernels.h"
#include "stored.cuh"

template <int dtype, int width>
static __device__ __forceinline__ void load(const void *array, size_t at, float (&x)[width])
{
    if (width == 4)
        stream4<dtype>(array, at, x);
    else
        x[0] = read1<dtype>(array, at);
}

/* Thread i goes through the chunks of elements width * i ... of (batch, columns), with the loads of `prefetch` chunks on
   their way. */
template <int dtype, int width, int ahead>
static __global__ void __launch_bounds__(256, 1)
    prefetch_forward(struct flat flat, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                     float *__restrict__ final_state)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * width;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t column = i % flat.columns, chunk = i / flat.columns * flat.chunks;
    const size_t first = chunk * flat.columns + column, decay = chunk * flat.decays + column / flat.per_decay;
    float x[ahead][width], g[ahead], h[width];
#pragma unroll
    for (int c = 0; c < width; c++)
        h[c] = initial_state != NULL ? initial_state[i + c] : 0.0f;
#pragma unroll
    for (int a = 0; a < ahead; a++)
        if ((size_t)a < flat.chunks) {
            load<dtype, width>(h_local, first + a * flat.columns, x[a]);
            g[a] = gamma[decay + a * flat.decays];
        }
    for (size_t base = 0; base < flat.chunks; base += ahead)
#pragma unroll
        for (int a = 0; a < ahead; a++) {
            const size_t k = base + a, next = k + ahead;
            float out[width];
            if (k >= flat.chunks)
                break;
#pragma unroll
            for (int c = 0; c < width; c++) {
                const float before = h[c];
                h[c] = g[a] * h[c] + x[a][c];
                out[c] = exclusive ? before : h[c];
            }
            if (next < flat.chunks) {
                load<dtype, width>(h_local, first + next * flat.columns, x[a]);
                g[a] = gamma[decay + next * flat.decays];
            }
            if (width == 4)
                write4<dtype>(h_out, first + k * flat.columns, out);
            else
                write1<dtype>(h_out, first + k * flat.columns, out[0]);
        }
    if (final_state != NULL)
#pragma unroll
        for (int c = 0; c < width; c++)
            final_state[i + c] = h[c];
}

typedef void ahead_kernel(struct flat, bool, const void *, const float *, const float *, void *, float *);

/* The kernel with `prefetch` chunks on their way, NULL if there is none. */
template <int dtype, int width>
static ahead_kernel *choose(int ahead)
{
    return ahead == 2    ? prefetch_forward<dtype, width, 2>
           : ahead == 4  ? prefetch_forward<dtype, width, 4>
           : ahead == 8  ? prefetch_forward<dtype, width, 8>
           : ahead == 16 ? prefetch_forward<dtype, width, 16>
                         : (ahead_kernel *)NULL;
}

extern "C" cudaError_t chunk_state_prefetch(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat flat = flat_of(args);
    const bool wide = args->dv % 4 == 0;
    const int threads = args->config.threads != 0 ? args->config.threads : 128;
    const int ahead = args->config.rows != 0 ? args->config.rows : 8;
    const size_t items = flat.batch * flat.columns / (wide ? 4 : 1), blocks = (items + threads - 1) / threads;
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (done)
        return error;
    ahead_kernel *const chosen = args->dtype == FLOAT32 ? (wide ? choose<FLOAT32, 4>(ahead) : choose<FLOAT32, 1>(ahead))
                                 : args->dtype == BF16  ? (wide ? choose<BF16, 4>(ahead) : choose<BF16, 1>(ahead))
                                                        : (wide ? choose<FP16, 4>(ahead) : choose<FP16, 1>(ahead));
    if (blocks > 0x7FFFFFFF || threads > 256 || threads % 32 != 0 || chosen == NULL)
        return cudaErrorInvalidValue;
    chosen<<<(unsigned)blocks, threads, 0, stream>>>(flat, args->exclusive, args->h_local, args->gamma,
                                                     args->initial_state, args->h_out, args->final_state);
    return cudaGetLastError();
}
