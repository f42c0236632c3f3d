/* SPDX-License-Identifier: MIT */
/* calls.h - shared by the programs of library.t, which call an installed liblinrec. */
#ifndef CALLS_H
#define CALLS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linrec.h>

static inline void must(int status, const char *what)
{
    if (status == LINREC_SUCCESS)
        return;
    printf("%s: %s\n", what, linrec_strerror(status));
    exit(1);
}

static inline void must_cuda(cudaError_t error)
{
    must(error == cudaSuccess ? LINREC_SUCCESS : LINREC_CUDA_ERROR + (int)error, "CUDA");
}

static inline double random_value(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (1 << 24);
}

/* Room for so many floats on the device, all NaN. */
static inline float *device_room(size_t count)
{
    void *room;
    must_cuda(cudaMalloc(&room, count * sizeof(float)));
    must_cuda(cudaMemset(room, 0xFF, count * sizeof(float)));
    return room;
}

static inline void new_workspace(void **workspace, size_t bytes)
{
    *workspace = bytes != 0 ? device_room((bytes + 3) / 4) : NULL;
    must(linrec_workspace_init(*workspace, bytes, NULL), "linrec_workspace_init");
}

/* ---- numbers of 16 bits ---- */

static inline double of_bits(enum linrec_dtype dtype, const void *from, size_t i)
{
    if (dtype == LINREC_FLOAT32)
        return ((const float *)from)[i];
    const unsigned bits = ((const uint16_t *)from)[i];
    if (dtype == LINREC_FLOAT16) {
        const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                            : exponent == 0 ? ldexp(fraction, -24)
                                            : ldexp(1024 + fraction, exponent - 25);
        return bits >> 15 ? -size : size;
    }
    const uint32_t word = (uint32_t)bits << 16; /* bfloat16 is the upper half of a float */
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Stores what is near to a value, and says what that is. */
static inline double to_bits(enum linrec_dtype dtype, void *to, size_t i, double value)
{
    if (dtype == LINREC_FLOAT32) {
        ((float *)to)[i] = (float)value;
    } else if (dtype == LINREC_BFLOAT16) {
        const float as_float = (float)value;
        uint32_t word;
        memcpy(&word, &as_float, sizeof word);
        ((uint16_t *)to)[i] = (uint16_t)(word >> 16);
    } else { /* multiples of 2^-10 are enough here: sign, exponent, fraction */
        const int size = (int)(fabs(value) * 1024);
        unsigned bits = 0;
        for (int exponent = 0; size >> exponent != 0; exponent++)
            bits = (unsigned)(exponent + 5) << 10 | (((unsigned)size << (10 - exponent)) & 1023);
        ((uint16_t *)to)[i] = (uint16_t)(bits | (value < 0 ? 0x8000 : 0));
    }
    return of_bits(dtype, to, i);
}

/* What a program checks if it is asked for it by name. */
struct named_check {
    const char *name;
    void (*check)(void);
};

/* Runs the one that is asked for. Returns the program's exit status. */
static inline int run_named(int argc, char **argv, const struct named_check *all, size_t count)
{
    for (size_t i = 0; i < count && argc == 2; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].check();
            return 0;
        }
    fprintf(stderr, "usage: %s", argv[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i == 0 ? "" : " |", all[i].name);
    fprintf(stderr, "\n");
    return 2;
}

#define EXPECT(call, status)                                                                                           \
    do {                                                                                                               \
        const int is = (call);                                                                                         \
        if (is != (status))                                                                                            \
            printf("line %d: %s returns %d, \"%s\", and not %d\n", __LINE__, #call, is, linrec_strerror(is), status);  \
    } while (0)

/* Calls with one field changed, which is put back. */
#define WITH(object, field, changed, call, status)                                                                     \
    do {                                                                                                               \
        const __typeof__(object) kept = object;                                                                        \
        object.field = changed;                                                                                        \
        EXPECT(call, status);                                                                                          \
        object = kept;                                                                                                 \
    } while (0)

/* A call after an error of somebody else's, `before`, leaves that where it was. */
#define KEEPS(call)                                                                                                    \
    do {                                                                                                               \
        EXPECT(call, LINREC_SUCCESS);                                                                                  \
        if (cudaPeekAtLastError() != before) {                                                                         \
            printf("after %s an error from before is \"%s\"\n", #call, cudaGetErrorString(cudaPeekAtLastError()));     \
            cudaSetDevice(99);                                                                                         \
        }                                                                                                              \
    } while (0)

#endif
