/* SPDX-License-Identifier: MIT */
/* dtype.cu - the conversions of common/base/dtype.h: every value of the types of 16 bits against the definition of the
   type, every tie and the floats beside it, and the same by CUDA's own functions in a kernel; and the elementwise
   kernels of common/harness/baselines.h for all types. Prints TAP. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>

#include "../../harness/baselines.h"
#include "../../harness/finding.h"

enum { COUNT = 1 << 16, INPUTS = 3 * COUNT };

static int number;

static void say(int num_wrong, enum dtype dtype, const char *what)
{
    printf("%sok %d - %s: %s\n", num_wrong == 0 ? "" : "not ", ++number, dtype_name(dtype), what);
    if (num_wrong != 0)
        printf("# %d are wrong\n", num_wrong);
}

/* Bits of the fraction, and how much an exponent is stored above what it means. */
static int fraction_of(enum dtype dtype)
{
    return dtype == BF16 ? 7 : 10;
}

static int bias_of(enum dtype dtype)
{
    return dtype == BF16 ? 127 : 15;
}

/* The first bits that are not a finite number: infinity. */
static unsigned infinity_of(enum dtype dtype)
{
    return dtype == BF16 ? 0x7F80 : 0x7C00;
}

/* What the bits mean. Infinity, taken as a number, is the first one that is too large. */
static double meaning(enum dtype dtype, unsigned bits)
{
    const int fraction_bits = fraction_of(dtype);
    const int exponent = (int)(bits & 0x7FFF) >> fraction_bits, fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double size = exponent == 0
                            ? ldexp(fraction, 1 - bias_of(dtype) - fraction_bits)
                            : ldexp(fraction + (1 << fraction_bits), exponent - bias_of(dtype) - fraction_bits);
    return (bits & 0x8000) != 0 ? -size : size;
}

static float to_float(enum dtype dtype, unsigned bits)
{
    const uint16_t stored[2] = {(uint16_t)bits}; /* room for a float, too */
    return dtype_get(dtype, stored, 0);
}

static unsigned from_float(enum dtype dtype, float value)
{
    uint16_t stored[2];
    dtype_set(dtype, stored, 0, value);
    return stored[0];
}

/* All values there and back. */
static void check_values(enum dtype dtype)
{
    const unsigned infinite = infinity_of(dtype);
    int wrong = 0;
    for (unsigned bits = 0; bits < COUNT; bits++) {
        const unsigned size = bits & 0x7FFF;
        const float value = to_float(dtype, bits);
        if (size > infinite)
            wrong += !isnan(value) || from_float(dtype, value) != 0x7FFF;
        else if (size == infinite)
            wrong += !isinf(value) || (value > 0) != (bits == size) || from_float(dtype, value) != bits;
        else
            wrong +=
                value != meaning(dtype, bits) || signbit(value) != (bits != size) || from_float(dtype, value) != bits;
    }
    say(wrong, dtype, "all values to float and back");
    say(!is_poison(to_float(dtype, 0xFFFF)), dtype, "what was not written stays so");
    say(from_float(dtype, NAN) != 0x7FFF, dtype, "a NaN");
}

/* Between two neighbours the middle goes to the even one, the floats beside it to the nearer one. */
static void check_ties(enum dtype dtype)
{
    int wrong = 0, steps = 0;
    for (unsigned low = 0; low < infinity_of(dtype); low++) {
        const double gap = meaning(dtype, low + 1) - meaning(dtype, low);
        const float middle = (float)(meaning(dtype, low) + 0.5 * gap);
        const unsigned even = low % 2 == 0 ? low : low + 1;
        wrong += from_float(dtype, middle) != even || from_float(dtype, -middle) != (even | 0x8000);
        wrong += from_float(dtype, nextafterf(middle, 0.0f)) != low ||
                 from_float(dtype, -nextafterf(middle, 0.0f)) != (low | 0x8000);
        wrong += from_float(dtype, nextafterf(middle, INFINITY)) != low + 1 ||
                 from_float(dtype, -nextafterf(middle, INFINITY)) != ((low + 1) | 0x8000);
        steps += dtype_rounding(dtype, meaning(dtype, low)) != 0.5 * gap;
        if (low + 1 == infinity_of(dtype))
            wrong += middle != dtype_overflow(dtype);
    }
    say(wrong, dtype, "all ties, and the floats beside them");
    say(steps, dtype, "half a step at all values");
}

/* Whether `got` passes where a float of `expected`, within `bound`, was rounded to the type. */
static bool passes(enum dtype dtype, float got, double expected, double bound)
{
    struct finding finding = FINDING_NOTHING;
    uint16_t stored[2];
    dtype_set(dtype, stored, 0, got);
    finding_add_stored(&finding, 0, 0, dtype, stored, expected, bound);
    return finding.num_bad == 0;
}

/* What the check lets pass: half a step, around 1 and where the type ends, and nothing beyond. */
static void check_bounds(enum dtype dtype)
{
    const unsigned last = infinity_of(dtype) - 1;
    const double step = meaning(dtype, 0x3C00) == 1.0 ? 0x1p-10 : 0x1p-7;
    const double largest = meaning(dtype, last), over = dtype_overflow(dtype);
    int wrong = 0;
    wrong += !passes(dtype, 1.0f, 1.0 + 0.5 * step, 0.0) || !passes(dtype, 1.0f, 1.0 + 0.625 * step, 0.125 * step);
    wrong += passes(dtype, 1.0f, 1.0 + 0.625 * step, 0.0) || passes(dtype, (float)(1.0 + step), 1.0, 0.0);
    wrong += !passes(dtype, INFINITY, over, 0.0) || !passes(dtype, INFINITY, largest, over - largest);
    wrong += !passes(dtype, -INFINITY, -over, 0.0) || !passes(dtype, (float)largest, largest, over - largest);
    wrong += passes(dtype, INFINITY, largest, 0.0) || passes(dtype, -INFINITY, over, 0.0);
    wrong += passes(dtype, (float)largest, 1.5 * over, 0.0) || passes(dtype, NAN, 1.0, 1e30);
    say(wrong, dtype, "a bound has half a step more, and no more");
}

/* The bits and the floats by CUDA's functions. */
static __global__ void convert(enum dtype dtype, const float *values, float *floats, unsigned short *bits)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    bits[i] = dtype == BF16 ? __bfloat16_as_ushort(__float2bfloat16_rn(values[i]))
                            : __half_as_ushort(__float2half_rn(values[i]));
    if (i < COUNT)
        floats[i] = dtype == BF16 ? __bfloat162float(__ushort_as_bfloat16((unsigned short)i))
                                  : __half2float(__ushort_as_half((unsigned short)i));
}

static void check_device(enum dtype dtype)
{
    static float values[INPUTS], floats[COUNT];
    static unsigned short bits[INPUTS];
    float *d_values, *d_floats;
    unsigned short *d_bits;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const unsigned low = (unsigned)i & 0x7FFF, sign = (unsigned)i & 0x8000;
        const float middle = low < infinity_of(dtype)
                                 ? (float)(0.5 * (meaning(dtype, low | sign) + meaning(dtype, (low + 1) | sign)))
                                 : to_float(dtype, (unsigned)i);
        values[3 * i] = nextafterf(middle, 0.0f);
        values[3 * i + 1] = middle;
        values[3 * i + 2] = nextafterf(middle, sign != 0 ? -INFINITY : INFINITY);
    }
    if (cudaMalloc((void **)&d_values, sizeof values) == cudaSuccess &&
        cudaMalloc((void **)&d_floats, sizeof floats) == cudaSuccess &&
        cudaMalloc((void **)&d_bits, sizeof bits) == cudaSuccess &&
        cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice) == cudaSuccess)
        convert<<<INPUTS / 256, 256>>>(dtype, d_values, d_floats, d_bits);
    if (cudaMemcpy(floats, d_floats, sizeof floats, cudaMemcpyDeviceToHost) != cudaSuccess ||
        cudaMemcpy(bits, d_bits, sizeof bits, cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = 1;
    for (int i = 0; i < COUNT; i++) {
        const float value = to_float(dtype, (unsigned)i);
        wrong += isnan(value) ? !isnan(floats[i]) : bits_of_float(floats[i]) != bits_of_float(value);
    }
    for (int i = 0; i < INPUTS; i++)
        wrong += bits[i] != from_float(dtype, values[i]);
    say(wrong, dtype, "a kernel converts to the same bits");
    cudaFree(d_values);
    cudaFree(d_floats);
    cudaFree(d_bits);
}

/* The elementwise kernels, around the eight elements that a thread takes; nothing past the end is written. */
static void check_elementwise(enum dtype dtype)
{
    enum { MOST = 20, BYTES = (MOST + 1) * 4 };
    unsigned char host[3][BYTES], from_device[3][BYTES];
    void *device[6];
    int wrong = 0;
    for (int i = 0; i < 6; i++)
        wrong += cudaMalloc(&device[i], BYTES) != cudaSuccess;
    for (int i = 0; i < 3; i++) {
        memset(host[i], 0, BYTES);
        for (size_t j = 0; j < MOST; j++)
            dtype_set(dtype, host[i], j, (float)(100 * i + (int)j) / 8);
        wrong += cudaMemcpy(device[i], host[i], BYTES, cudaMemcpyHostToDevice) != cudaSuccess;
    }
    for (size_t count = 0; count <= MOST; count++) {
        for (int i = 3; i < 6; i++)
            wrong += cudaMemset(device[i], 0xFF, BYTES) != cudaSuccess;
        wrong += device_add(dtype, count, device[0], device[1], device[3], NULL) != cudaSuccess;
        wrong += device_add5(dtype, count, device[0], device[1], device[2], device[4], device[5], NULL) != cudaSuccess;
        for (int i = 0; i < 3; i++)
            wrong += cudaMemcpy(from_device[i], device[3 + i], BYTES, cudaMemcpyDeviceToHost) != cudaSuccess;
        for (size_t j = 0; j <= MOST; j++)
            for (int i = 0; i < 3; i++) {
                const int a = i == 2 ? 1 : 0; /* a + b, a + b, b + c */
                const float sum = dtype_get(dtype, host[a], j) + dtype_get(dtype, host[a + 1], j);
                const float got = dtype_get(dtype, from_device[i], j);
                unsigned char rounded[4];
                dtype_set(dtype, rounded, 0, sum);
                wrong += j < count ? got != dtype_get(dtype, rounded, 0) : !is_poison(got);
            }
    }
    wrong += device_copy(MOST * dtype_bytes(dtype), device[0], device[3], NULL) != cudaSuccess ||
             cudaMemcpy(from_device[0], device[3], BYTES, cudaMemcpyDeviceToHost) != cudaSuccess ||
             memcmp(from_device[0], host[0], MOST * dtype_bytes(dtype)) != 0 ||
             !is_poison(dtype_get(dtype, from_device[0], MOST));
    say(wrong, dtype, "copy, add and add5");
    for (int i = 0; i < 6; i++)
        cudaFree(device[i]);
}

int main(void)
{
    check_elementwise(FLOAT32);
    const enum dtype types[] = {BF16, FP16};
    for (int t = 0; t < 2; t++) {
        check_values(types[t]);
        check_ties(types[t]);
        check_bounds(types[t]);
        check_device(types[t]);
        check_elementwise(types[t]);
    }
    printf("1..%d\n", number);
    return 0;
}
