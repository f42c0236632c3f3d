/* SPDX-License-Identifier: MIT */
/* fast_math.cu STRIDE - the functions of common/cuda/fast_math.h over every STRIDE-th float, against those of double
   precision: no error is larger than what the header states, and results at the edges are as it says. Prints TAP. */
#include <cuda_runtime.h>
#include "../../cuda/fast_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../harness/baselines.h"

enum { THREADS = 128, BLOCKS = 64 };
#define ALL 0x100000000ull /* floats */

enum { EXP2, RCP, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"fast_exp2", "fast_rcp"};

/* What is smaller than 2^-126 counts as 0. */
static __device__ double flush(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

/* The error as a multiple of `allowed`; 0 and what is not finite must be exactly so. */
static __device__ float multiple_of(double got, double expected, double allowed)
{
    if (isnan(expected))
        return isnan(got) ? 0.0f : INFINITY;
    if (isinf(expected) || expected == 0.0)
        return got == expected ? 0.0f : INFINITY;
    const double multiple = fabs(got - expected) / allowed;
    return multiple >= 0.0 ? (float)multiple : INFINITY; /* not if `got` is NaN */
}

static __device__ float error_of(int function, float x)
{
    const double argument = flush(x);
    if (function == EXP2) {
        const double expected = exp2(argument), allowed = 0x1p-22 * expected;
        const float got = fast_exp2(x);
        if (got == 0.0f && expected < 0x1p-126 + allowed) /* so little above 2^-126 it may be below, too */
            return 0.0f;
        return expected < 0x1p-126 - allowed || x >= 128.0f ? multiple_of(got, x >= 128.0f ? INFINITY : 0.0, 1.0)
                                                            : multiple_of(got, expected, allowed);
    }
    const double expected = fabs(argument) > 0x1p126 ? copysign(0.0, argument) : 1.0 / argument;
    return multiple_of(fast_rcp(x), expected, 0x1p-23 * fabs(expected));
}

/* worst[thread]: the largest error that this thread has found, and where. */
static __global__ void sweep(int function, unsigned long long stride, float2 *worst)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float2 found = make_float2(0.0f, 0.0f);
    for (unsigned long long bits = thread * stride; bits < ALL; bits += gridDim.x * blockDim.x * stride) {
        const float x = __uint_as_float((unsigned)bits), error = error_of(function, x);
        if (error > found.x)
            found = make_float2(error, x);
    }
    worst[thread] = found;
}

static __global__ void call(float x, float *results)
{
    results[EXP2] = fast_exp2(x);
    results[RCP] = fast_rcp(x);
}

static int failed(cudaError_t error)
{
    if (error != cudaSuccess)
        printf("Bail out! %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

/* Both infinite, both 0 with one sign, both NaN, or equal. */
static bool same(float a, float b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && signbit(a) == signbit(b);
}

int main(int argc, char **argv)
{
    static float2 worst[THREADS * BLOCKS];
    const unsigned long long stride = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    void *memory;
    int number = 0;
    if (stride == 0) {
        fprintf(stderr, "usage: tests_fast_math STRIDE (1: all floats)\n");
        return 2;
    }
    printf("1..%d\n", FUNCTIONS + 7);
    if (failed(cudaMalloc(&memory, sizeof(worst))))
        return 1;
    for (int function = 0; function < FUNCTIONS; function++) {
        sweep<<<BLOCKS, THREADS>>>(function, stride, (float2 *)memory);
        if (failed(cudaGetLastError()) || failed(cudaMemcpy(worst, memory, sizeof(worst), cudaMemcpyDeviceToHost)))
            return 1;
        float2 found = worst[0];
        for (int i = 1; i < THREADS * BLOCKS; i++)
            if (worst[i].x > found.x)
                found = worst[i];
        printf("%sok %d - %s, the error\n", found.x <= 1.0f ? "" : "not ", ++number, names[function]);
        printf("# the largest error is %.3f of what is allowed, at %.9g\n", found.x, found.y);
    }
    static const struct {
        float x;
        int function;
        float expected;
    } edges[] = {
        {-INFINITY, EXP2, 0.0f}, {INFINITY, EXP2, INFINITY}, {128.0f, EXP2, INFINITY}, {NAN, EXP2, NAN},
        {-0.0f, RCP, -INFINITY}, {INFINITY, RCP, 0.0f},      {0x1.8p126f, RCP, 0.0f},
    };
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
        float results[FUNCTIONS];
        call<<<1, 1>>>(edges[i].x, (float *)memory);
        if (failed(cudaGetLastError()) || failed(cudaMemcpy(results, memory, sizeof(results), cudaMemcpyDeviceToHost)))
            return 1;
        const float got = results[edges[i].function];
        printf("%sok %d - %s(%g) is %g\n", same(got, edges[i].expected) ? "" : "not ", ++number,
               names[edges[i].function], edges[i].x, edges[i].expected);
        printf("# it is %g\n", got);
    }
    return cudaFree(memory) != cudaSuccess;
}
