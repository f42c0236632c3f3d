/* SPDX-License-Identifier: MIT */
/* data.cu - the test data of the selective scan, written on the device, for shapes of any size. */
#include <cuda_runtime.h>

#include "data.h"

/* A grid-stride loop. */
static __global__ void fill(struct selective_spec spec, int array, enum dtype dtype, void *values, size_t count,
                            size_t window)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        dtype_set(dtype, values, i, selective_value(&spec, array, i, window));
}

extern "C" cudaError_t selective_device_fill(const struct problem *problem, const struct data *data)
{
    const size_t threads = 256, per_thread = 16, window = selective_window(problem->sizes[SEQ_LEN]);
    const struct selective_spec spec = selective_spec_of(problem, data);
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const struct array *array = &problem->operation->arrays[a];
        const size_t count = array_count(array, problem->sizes);
        if (problem->arrays[a] == NULL || array_role(array, problem->direction) != READ || count == 0)
            continue;
        const size_t blocks = (count - 1) / (threads * per_thread) + 1;
        fill<<<(unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF), (unsigned)threads>>>(
            spec, a, array_dtype(array, problem->dtype), problem->arrays[a], count, window);
    }
    return cudaGetLastError();
}
