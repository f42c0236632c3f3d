/* SPDX-License-Identifier: MIT */
/* calls.h - shared by the programs of library.t, which call an installed liblinrec. */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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
