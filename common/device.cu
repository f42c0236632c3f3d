/* device.cu - see device.h. Nothing here is timed but copy, add and add5. */
#include <cuda_runtime.h>

#include "device.h"

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

/* The driver's own device-to-device copy. */
extern "C" cudaError_t device_copy(size_t count, const float *from, float *to, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t device_add(size_t count, const float *a, const float *b, float *sum, cudaStream_t stream)
{
    if (count == 0)
        return cudaSuccess;
    add<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, a, b, sum);
    return cudaGetLastError();
}

extern "C" cudaError_t device_add5(size_t count, const float *a, const float *b, const float *c, float *ab, float *bc,
                                   cudaStream_t stream)
{
    if (count == 0)
        return cudaSuccess;
    add5<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, a, b, c, ab, bc);
    return cudaGetLastError();
}
