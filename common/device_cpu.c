/* device_cpu.c - device.h in plain loops, for chapter 01, whose arrays live in host memory. */
#include <string.h>

#include "device.h"

cudaError_t device_flush(const void *buffer, size_t size)
{
    static volatile float sink; /* keeps the reads */
    const float *values = buffer;
    float sum = 0.0f;
    for (size_t i = 0; i < size / sizeof(float); i += 16) /* one read a cache line */
        sum += values[i];
    sink = sum;
    (void)sink;
    return cudaSuccess;
}

cudaError_t device_copy(size_t count, const float *from, float *to, cudaStream_t stream)
{
    (void)stream;
    memcpy(to, from, count * sizeof(float));
    return cudaSuccess;
}

cudaError_t device_add(size_t count, const float *restrict a, const float *restrict b, float *restrict sum,
                       cudaStream_t stream)
{
    (void)stream;
    for (size_t i = 0; i < count; i++)
        sum[i] = a[i] + b[i];
    return cudaSuccess;
}

cudaError_t device_add5(size_t count, const float *restrict a, const float *restrict b, const float *restrict c,
                        float *restrict ab, float *restrict bc, cudaStream_t stream)
{
    (void)stream;
    for (size_t i = 0; i < count; i++) {
        ab[i] = a[i] + b[i];
        bc[i] = b[i] + c[i];
    }
    return cudaSuccess;
}
