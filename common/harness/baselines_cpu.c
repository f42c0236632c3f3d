/* SPDX-License-Identifier: MIT */
/* baselines_cpu.c - baselines.h in plain loops, for a chapter whose arrays live in host memory. */
#include <string.h>

#include "baselines.h"

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

cudaError_t device_copy(size_t bytes, const void *from, void *to, cudaStream_t stream)
{
    (void)stream;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

/* Such a chapter keeps everything in float32. */
cudaError_t device_add(enum dtype dtype, size_t count, const void *a, const void *b, void *sum, cudaStream_t stream)
{
    const float *restrict x = a, *restrict y = b;
    float *restrict to = sum;
    (void)stream;
    if (dtype != FLOAT32)
        return cudaErrorNotSupported;
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] + y[i];
    return cudaSuccess;
}

cudaError_t device_add5(enum dtype dtype, size_t count, const void *a, const void *b, const void *c, void *ab, void *bc,
                        cudaStream_t stream)
{
    const float *restrict x = a, *restrict y = b, *restrict z = c;
    float *restrict xy = ab, *restrict yz = bc;
    (void)stream;
    if (dtype != FLOAT32)
        return cudaErrorNotSupported;
    for (size_t i = 0; i < count; i++) {
        xy[i] = x[i] + y[i];
        yz[i] = y[i] + z[i];
    }
    return cudaSuccess;
}
