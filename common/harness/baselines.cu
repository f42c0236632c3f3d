/* SPDX-License-Identifier: MIT */
/* baselines.cu - see baselines.h. Nothing here is timed but copy, add and add5. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <string.h>

#include "baselines.h"

static const int kThreads = 256;

/* Enough blocks for n items, one thread an item, but no more than keeps the grid's x in range. */
static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

/* The sum goes nowhere, but the compiler cannot know that the buffer holds zeros and that it is never 1. */
static __global__ void flush(const float4 *buffer, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += buffer[i].x;
    if (sum == 1.0f)
        __trap();
}

extern "C" cudaError_t device_flush(const void *buffer, size_t size)
{
    const size_t count = size / sizeof(float4);
    if (count == 0)
        return cudaSuccess;
    flush<<<num_blocks((count + 7) / 8), kThreads>>>((const float4 *)buffer, count);
    return cudaGetLastError();
}

/* Elementwise: one float4 a thread, 512 consecutive bytes a warp; the last, incomplete float4 element by element. */
static __global__ void add(size_t count, const float *a, const float *b, float *sum)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= count) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(sum + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (size_t j = i; j < count; j++)
            sum[j] = a[j] + b[j];
    }
}

static __global__ void add5(size_t count, const float *a, const float *b, const float *c, float *ab, float *bc)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= count) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i), z = *(const float4 *)(c + i);
        *(float4 *)(ab + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        *(float4 *)(bc + i) = make_float4(y.x + z.x, y.y + z.y, y.z + z.z, y.w + z.w);
    } else {
        for (size_t j = i; j < count; j++) {
            ab[j] = a[j] + b[j];
            bc[j] = b[j] + c[j];
        }
    }
}

/* ---- the same of types of 16 bits: eight elements a thread, two in a word ---- */

static __device__ float2 unpack(int dtype, unsigned word)
{
    __nv_bfloat162 as_bf16;
    __half2 as_fp16;
    memcpy(&as_bf16, &word, sizeof word);
    memcpy(&as_fp16, &word, sizeof word);
    return dtype == BF16 ? __bfloat1622float2(as_bf16) : __half22float2(as_fp16);
}

static __device__ unsigned pack(int dtype, float x, float y)
{
    const __nv_bfloat162 as_bf16 = __floats2bfloat162_rn(x, y);
    const __half2 as_fp16 = __floats2half2_rn(x, y);
    unsigned word;
    if (dtype == BF16)
        memcpy(&word, &as_bf16, sizeof word);
    else
        memcpy(&word, &as_fp16, sizeof word);
    return word;
}

static __device__ unsigned add_two(int dtype, unsigned a, unsigned b)
{
    const float2 x = unpack(dtype, a), y = unpack(dtype, b);
    return pack(dtype, x.x + y.x, x.y + y.y);
}

static __device__ uint4 add_eight(int dtype, uint4 a, uint4 b)
{
    return make_uint4(add_two(dtype, a.x, b.x), add_two(dtype, a.y, b.y), add_two(dtype, a.z, b.z),
                      add_two(dtype, a.w, b.w));
}

static __device__ void add_one(int dtype, const void *a, const void *b, void *sum, size_t i)
{
    const enum dtype type = (enum dtype)dtype;
    dtype_set(type, sum, i, dtype_get(type, a, i) + dtype_get(type, b, i));
}

template <int dtype>
static __global__ void add_stored(size_t count, const void *a, const void *b, void *sum)
{
    const size_t group = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (group * 8 + 8 <= count)
        ((uint4 *)sum)[group] = add_eight(dtype, ((const uint4 *)a)[group], ((const uint4 *)b)[group]);
    else
        for (size_t i = group * 8; i < count; i++)
            add_one(dtype, a, b, sum, i);
}

template <int dtype>
static __global__ void add5_stored(size_t count, const void *a, const void *b, const void *c, void *ab, void *bc)
{
    const size_t group = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (group * 8 + 8 <= count) {
        const uint4 x = ((const uint4 *)a)[group], y = ((const uint4 *)b)[group], z = ((const uint4 *)c)[group];
        ((uint4 *)ab)[group] = add_eight(dtype, x, y);
        ((uint4 *)bc)[group] = add_eight(dtype, y, z);
    } else {
        for (size_t i = group * 8; i < count; i++) {
            add_one(dtype, a, b, ab, i);
            add_one(dtype, b, c, bc, i);
        }
    }
}

/* ---- the launchers ---- */

/* The driver's own device-to-device copy. */
extern "C" cudaError_t device_copy(size_t bytes, const void *from, void *to, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t device_add(enum dtype dtype, size_t count, const void *a, const void *b, void *sum,
                                  cudaStream_t stream)
{
    const unsigned eights = num_blocks((count + 7) / 8);
    if (count == 0)
        return cudaSuccess;
    if (dtype == FLOAT32)
        add<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, (const float *)a, (const float *)b,
                                                                  (float *)sum);
    else if (dtype == BF16)
        add_stored<BF16><<<eights, kThreads, 0, stream>>>(count, a, b, sum);
    else
        add_stored<FP16><<<eights, kThreads, 0, stream>>>(count, a, b, sum);
    return cudaGetLastError();
}

extern "C" cudaError_t device_add5(enum dtype dtype, size_t count, const void *a, const void *b, const void *c,
                                   void *ab, void *bc, cudaStream_t stream)
{
    const unsigned eights = num_blocks((count + 7) / 8);
    if (count == 0)
        return cudaSuccess;
    if (dtype == FLOAT32)
        add5<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, (const float *)a, (const float *)b,
                                                                   (const float *)c, (float *)ab, (float *)bc);
    else if (dtype == BF16)
        add5_stored<BF16><<<eights, kThreads, 0, stream>>>(count, a, b, c, ab, bc);
    else
        add5_stored<FP16><<<eights, kThreads, 0, stream>>>(count, a, b, c, ab, bc);
    return cudaGetLastError();
}
