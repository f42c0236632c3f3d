/* storage.cu - the conversions of common/storage.h: every value of the types of 16 bits against the definition of the
   type, every tie and the floats beside it, and the same by CUDA's own functions in a kernel; and the elementwise
   kernels of common/device.h for all types. Prints TAP. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>

#include "../../device.h"
#include "../../finding.h"

enum { COUNT = 1 << 16, INPUTS = 3 * COUNT };

static int number;

static void say(int num_wrong, enum storage storage, const char *what)
{
    printf("%sok %d - %s: %s\n", num_wrong == 0 ? "" : "not ", ++number, storage_name(storage), what);
    if (num_wrong != 0)
        printf("# %d are wrong\n", num_wrong);
}

/* Bits of the fraction, and how much an exponent is stored above what it means. */
static int fraction_of(enum storage storage)
{
    return storage == BF16 ? 7 : 10;
}

static int bias_of(enum storage storage)
{
    return storage == BF16 ? 127 : 15;
}

/* The first bits that are not a finite number: infinity. */
static unsigned infinity_of(enum storage storage)
{
    return storage == BF16 ? 0x7F80 : 0x7C00;
}

/* What the bits mean. Infinity, taken as a number, is the first one that is too large. */
static double meaning(enum storage storage, unsigned bits)
{
    const int fraction_bits = fraction_of(storage);
    const int exponent = (int)(bits & 0x7FFF) >> fraction_bits, fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double size = exponent == 0
                            ? ldexp(fraction, 1 - bias_of(storage) - fraction_bits)
                            : ldexp(fraction + (1 << fraction_bits), exponent - bias_of(storage) - fraction_bits);
    return (bits & 0x8000) != 0 ? -size : size;
}

static float to_float(enum storage storage, unsigned bits)
{
    const uint16_t stored[2] = {(uint16_t)bits}; /* room for a float, too */
    return storage_get(storage, stored, 0);
}

static unsigned from_float(enum storage storage, float value)
{
    uint16_t stored[2];
    storage_set(storage, stored, 0, value);
    return stored[0];
}

/* All values there and back. */
static void check_values(enum storage storage)
{
    const unsigned infinite = infinity_of(storage);
    int wrong = 0;
    for (unsigned bits = 0; bits < COUNT; bits++) {
        const unsigned size = bits & 0x7FFF;
        const float value = to_float(storage, bits);
        if (size > infinite)
            wrong += !isnan(value) || from_float(storage, value) != 0x7FFF;
        else if (size == infinite)
            wrong += !isinf(value) || (value > 0) != (bits == size) || from_float(storage, value) != bits;
        else
            wrong += value != meaning(storage, bits) || signbit(value) != (bits != size) ||
                     from_float(storage, value) != bits;
    }
    say(wrong, storage, "all values to float and back");
    say(!is_poison(to_float(storage, 0xFFFF)), storage, "what was not written stays so");
    say(from_float(storage, NAN) != 0x7FFF, storage, "a NaN");
}

/* Between two neighbours the middle goes to the even one, the floats beside it to the nearer one. */
static void check_ties(enum storage storage)
{
    int wrong = 0, steps = 0;
    for (unsigned low = 0; low < infinity_of(storage); low++) {
        const double gap = meaning(storage, low + 1) - meaning(storage, low);
        const float middle = (float)(meaning(storage, low) + 0.5 * gap);
        const unsigned even = low % 2 == 0 ? low : low + 1;
        wrong += from_float(storage, middle) != even || from_float(storage, -middle) != (even | 0x8000);
        wrong += from_float(storage, nextafterf(middle, 0.0f)) != low ||
                 from_float(storage, -nextafterf(middle, 0.0f)) != (low | 0x8000);
        wrong += from_float(storage, nextafterf(middle, INFINITY)) != low + 1 ||
                 from_float(storage, -nextafterf(middle, INFINITY)) != ((low + 1) | 0x8000);
        steps += storage_rounding(storage, meaning(storage, low)) != 0.5 * gap;
        if (low + 1 == infinity_of(storage))
            wrong += middle != storage_overflow(storage);
    }
    say(wrong, storage, "all ties, and the floats beside them");
    say(steps, storage, "half a step at all values");
}

/* Whether `got` passes where a float of `expected`, within `bound`, was rounded to the type. */
static bool passes(enum storage storage, float got, double expected, double bound)
{
    struct finding finding = FINDING_NOTHING;
    uint16_t stored[2];
    storage_set(storage, stored, 0, got);
    finding_add_stored(&finding, 0, 0, storage, stored, expected, bound);
    return finding.num_bad == 0;
}

/* What the check lets pass: half a step, around 1 and where the type ends, and nothing beyond. */
static void check_bounds(enum storage storage)
{
    const unsigned last = infinity_of(storage) - 1;
    const double step = meaning(storage, 0x3C00) == 1.0 ? 0x1p-10 : 0x1p-7;
    const double largest = meaning(storage, last), over = storage_overflow(storage);
    int wrong = 0;
    wrong += !passes(storage, 1.0f, 1.0 + 0.5 * step, 0.0) || !passes(storage, 1.0f, 1.0 + 0.625 * step, 0.125 * step);
    wrong += passes(storage, 1.0f, 1.0 + 0.625 * step, 0.0) || passes(storage, (float)(1.0 + step), 1.0, 0.0);
    wrong += !passes(storage, INFINITY, over, 0.0) || !passes(storage, INFINITY, largest, over - largest);
    wrong += !passes(storage, -INFINITY, -over, 0.0) || !passes(storage, (float)largest, largest, over - largest);
    wrong += passes(storage, INFINITY, largest, 0.0) || passes(storage, -INFINITY, over, 0.0);
    wrong += passes(storage, (float)largest, 1.5 * over, 0.0) || passes(storage, NAN, 1.0, 1e30);
    say(wrong, storage, "a bound has half a step more, and no more");
}

/* The bits and the floats by CUDA's functions. */
static __global__ void convert(enum storage storage, const float *values, float *floats, unsigned short *bits)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    bits[i] = storage == BF16 ? __bfloat16_as_ushort(__float2bfloat16_rn(values[i]))
                              : __half_as_ushort(__float2half_rn(values[i]));
    if (i < COUNT)
        floats[i] = storage == BF16 ? __bfloat162float(__ushort_as_bfloat16((unsigned short)i))
                                    : __half2float(__ushort_as_half((unsigned short)i));
}

static void check_device(enum storage storage)
{
    static float values[INPUTS], floats[COUNT];
    static unsigned short bits[INPUTS];
    float *d_values, *d_floats;
    unsigned short *d_bits;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const unsigned low = (unsigned)i & 0x7FFF, sign = (unsigned)i & 0x8000;
        const float middle = low < infinity_of(storage)
                                 ? (float)(0.5 * (meaning(storage, low | sign) + meaning(storage, (low + 1) | sign)))
                                 : to_float(storage, (unsigned)i);
        values[3 * i] = nextafterf(middle, 0.0f);
        values[3 * i + 1] = middle;
        values[3 * i + 2] = nextafterf(middle, sign != 0 ? -INFINITY : INFINITY);
    }
    if (cudaMalloc((void **)&d_values, sizeof values) == cudaSuccess &&
        cudaMalloc((void **)&d_floats, sizeof floats) == cudaSuccess &&
        cudaMalloc((void **)&d_bits, sizeof bits) == cudaSuccess &&
        cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice) == cudaSuccess)
        convert<<<INPUTS / 256, 256>>>(storage, d_values, d_floats, d_bits);
    if (cudaMemcpy(floats, d_floats, sizeof floats, cudaMemcpyDeviceToHost) != cudaSuccess ||
        cudaMemcpy(bits, d_bits, sizeof bits, cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = 1;
    for (int i = 0; i < COUNT; i++) {
        const float value = to_float(storage, (unsigned)i);
        wrong += isnan(value) ? !isnan(floats[i]) : bits_of_float(floats[i]) != bits_of_float(value);
    }
    for (int i = 0; i < INPUTS; i++)
        wrong += bits[i] != from_float(storage, values[i]);
    say(wrong, storage, "a kernel converts to the same bits");
    cudaFree(d_values);
    cudaFree(d_floats);
    cudaFree(d_bits);
}

/* The elementwise kernels, around the eight elements that a thread takes; nothing past the end is written. */
static void check_elementwise(enum storage storage)
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
            storage_set(storage, host[i], j, (float)(100 * i + (int)j) / 8);
        wrong += cudaMemcpy(device[i], host[i], BYTES, cudaMemcpyHostToDevice) != cudaSuccess;
    }
    for (size_t count = 0; count <= MOST; count++) {
        for (int i = 3; i < 6; i++)
            wrong += cudaMemset(device[i], 0xFF, BYTES) != cudaSuccess;
        wrong += device_add(storage, count, device[0], device[1], device[3], NULL) != cudaSuccess;
        wrong +=
            device_add5(storage, count, device[0], device[1], device[2], device[4], device[5], NULL) != cudaSuccess;
        for (int i = 0; i < 3; i++)
            wrong += cudaMemcpy(from_device[i], device[3 + i], BYTES, cudaMemcpyDeviceToHost) != cudaSuccess;
        for (size_t j = 0; j <= MOST; j++)
            for (int i = 0; i < 3; i++) {
                const int a = i == 2 ? 1 : 0; /* a + b, a + b, b + c */
                const float sum = storage_get(storage, host[a], j) + storage_get(storage, host[a + 1], j);
                const float got = storage_get(storage, from_device[i], j);
                unsigned char rounded[4];
                storage_set(storage, rounded, 0, sum);
                wrong += j < count ? got != storage_get(storage, rounded, 0) : !is_poison(got);
            }
    }
    wrong += device_copy(MOST * storage_bytes(storage), device[0], device[3], NULL) != cudaSuccess ||
             cudaMemcpy(from_device[0], device[3], BYTES, cudaMemcpyDeviceToHost) != cudaSuccess ||
             memcmp(from_device[0], host[0], MOST * storage_bytes(storage)) != 0 ||
             !is_poison(storage_get(storage, from_device[0], MOST));
    say(wrong, storage, "copy, add and add5");
    for (int i = 0; i < 6; i++)
        cudaFree(device[i]);
}

int main(void)
{
    check_elementwise(FLOAT32);
    const enum storage types[] = {BF16, FP16};
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
