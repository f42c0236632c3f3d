/* tile.cuh - what a thread does with its own elements; for this chapter and all later ones.

   A thread keeps its elements in registers: arrays whose size is known when the kernel is compiled and whose indices
   are known once the loops are unrolled. Anything else the compiler must put into memory, because registers have no
   addresses. */
#ifndef TILE_CUH
#define TILE_CUH

#include "tile.h"

/* A kernel that takes a sequence per block. */
typedef void tile_kernel(int seq_len, const float *inputs, const float *coeffs, float *outputs);

/* The body of a launcher. kernels: one kernel, compiled for each of TILE_SIZES in that order. */
static inline cudaError_t tile_launch(tile_kernel *const *kernels, const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;
    tile_kernel *const kernel = kernels[tile_size(args->seq_len)];
    kernel<<<(unsigned)args->num_seqs, tile_threads(args->seq_len), 0, stream>>>((int)args->seq_len, args->inputs,
                                                                                 args->coeffs, args->outputs);
    return cudaGetLastError();
}

/* The elements of a sequence that belong to this thread: consecutive ones, split evenly, so that two threads differ by
   one element at most. Threads at the end get none if there are more threads than elements.

       seq_len 10, 4 threads:    |0 1 2|3 4 5|6 7|8 9|    */
struct part {
    int begin, count;
};

static __device__ __forceinline__ struct part thread_part(int seq_len, int num_threads, int thread)
{
    const int size = seq_len / num_threads, longer = seq_len % num_threads;
    struct part part = {thread * size + (thread < longer ? thread : longer), size + (thread < longer)};
    return part;
}

/* Loads the part into registers and fills up with (0, 1), which changes nothing: y * 1 + 0 = y. The first coefficient
   of the sequence is not read; a 1 stands in for it, since nothing comes before that could be multiplied. */
template <int elems>
static __device__ __forceinline__ void thread_load(struct part part, const float *inputs, const float *coeffs, float *x,
                                                   float *c)
{
#pragma unroll
    for (int i = 0; i < elems; i++) {
        const int l = part.begin + i;
        x[i] = i < part.count ? inputs[l] : 0.0f;
        c[i] = i < part.count && l > 0 ? coeffs[l] : 1.0f;
    }
}

template <int elems>
static __device__ __forceinline__ void thread_store(struct part part, const float *y, float *outputs)
{
#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < part.count)
            outputs[part.begin + i] = y[i];
}

/* The recurrence over the thread's own elements, as if nothing came before. In place: x becomes y, and c becomes the
   product of the coefficients up to and including each element. */
template <int elems>
static __device__ __forceinline__ void thread_scan(float *x, float *c)
{
#pragma unroll
    for (int i = 1; i < elems; i++) {
        x[i] = x[i - 1] * c[i] + x[i];
        c[i] = c[i - 1] * c[i];
    }
}

/* Adds what comes in from before: y += carry * product. */
template <int elems>
static __device__ __forceinline__ void thread_carry(float carry, float *y, const float *product)
{
#pragma unroll
    for (int i = 0; i < elems; i++)
        y[i] = carry * product[i] + y[i];
}

#endif
