/* SPDX-License-Identifier: MIT */
/* product_data.cu - see product_data.h */
#include <cuda_runtime.h>

#include "product_data.h"

static const int kThreads = 128;

static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

/* A grid-stride loop. */
static __global__ void fill(struct product_spec spec, int array, enum dtype dtype, void *values, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        dtype_set(dtype, values, i, product_value(&spec, array, i));
}

extern "C" cudaError_t product_fill_array(const struct product_spec *spec, int array, enum dtype dtype, void *values,
                                          size_t count)
{
    if (count == 0)
        return cudaSuccess;
    fill<<<num_blocks((count + 3) / 4), kThreads>>>(*spec, array, dtype, values, count);
    return cudaGetLastError();
}

/* One thread compares one element: somewhere in its stretch of C. */
static __global__ void check(struct product_args args, struct product_spec spec, size_t stretch,
                             struct finding *finding)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t at = product_sample(&spec, stretch, number);
    struct finding mine = FINDING_NOTHING;
    if (at >= args.m * args.n)
        return;
    product_check_element(&args, spec.kind, at, &mine);
    /* errors are not negative, so their bits order like integers */
    atomicMax((unsigned long long *)&finding->max_error, (unsigned long long)__double_as_longlong(mine.max_error));
    if (mine.num_bad != 0) {
        atomicAdd(&finding->num_bad, mine.num_bad);
        atomicMin(&finding->first_bad, mine.first_bad);
    }
}

/* The first bad element once more: what it must be, and what it is. */
static __global__ void say_first(struct product_args args, int kind, struct finding *finding)
{
    struct finding first = FINDING_NOTHING;
    if (finding->num_bad == 0)
        return;
    product_check_element(&args, kind, finding_index(finding->first_bad), &first);
    finding->expected = first.expected;
    finding->bound = first.bound;
    finding->got = first.got;
}

extern "C" cudaError_t product_device_check(const struct product_args *args, const struct product_spec *spec,
                                            struct finding *finding)
{
    const size_t count = args->m * args->n, stretch = product_stretch(args);
    if (count == 0)
        return cudaSuccess;
    check<<<num_blocks((count + stretch - 1) / stretch), kThreads>>>(*args, *spec, stretch, finding);
    say_first<<<1, 1>>>(*args, spec->kind, finding);
    return cudaGetLastError();
}
