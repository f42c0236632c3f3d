/* SPDX-License-Identifier: MIT */
/* step.cu - one step of a layer, in place. There is no time to walk through any more, so there is nothing to scan: a
   thread has up to four neighbouring channels of a row, loads their state from the row's slot, and stores it there.
   What counts is the launch, so the next one begins early (launch_of.h).

       row 0    thread 0 | thread 1 | ...       slot 5
       row 1    thread 0 | thread 1 | ...       slot 0
       row 2                                    slot -1: its threads end at once                                     */
#include <cuda_runtime.h>

#include <stdint.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "channels.cuh"
#include "kernels.h"

enum { THREADS = 128 };

/* The threads of `row_blocks` blocks share the channels of a row. */
template <int dtype, int width>
static __global__ void __launch_bounds__(THREADS) step_row(struct step_args args, unsigned row_blocks)
{
    constexpr size_t bytes = dtype == FLOAT32 ? 4 : 2;
    next_may_begin(); /* the next layer's blocks, which then wait below, as these do */
    previous_is_done();
    const size_t row = blockIdx.x / row_blocks;
    const size_t channel = ((size_t)(blockIdx.x % row_blocks) * THREADS + threadIdx.x) * width;
    const long long slot = args.slots != NULL ? args.slots[row] : (long long)row;
    if (channel >= args.channels || slot < 0 || slot >= (long long)args.num_slots)
        return;

    unsigned x_words[WORDS(dtype, width)], c_words[WORDS(dtype, width)], y_words[WORDS(FLOAT32, width)];
    load_channels<dtype, width>((const char *)args.inputs + (row * args.inputs_by + channel) * bytes, x_words);
    load_channels<dtype, width>((const char *)args.coeffs + (row * args.coeffs_by + channel) * bytes, c_words);
    load_channels<FLOAT32, width>(args.states + slot * args.channels + channel, y_words);

    float x[width], c[width], y[width];
    unpack_channels<dtype, width>(x_words, x);
    unpack_coeffs<dtype, width>(c_words, args.log_coeffs, c);
    unpack_channels<FLOAT32, width>(y_words, y);
#pragma unroll
    for (int v = 0; v < width; v++)
        y[v] = y[v] * c[v] + x[v];

    store_channels<dtype, width>((char *)args.outputs + (row * args.outputs_by + channel) * bytes, y);
    store_channels<FLOAT32, width>(args.new_states + slot * args.channels + channel, y);
}

/* How many neighbouring channels all arrays allow to be loaded at once: 4 or 1. */
static int width_of(const struct step_args *args)
{
    const size_t bytes = dtype_bytes(args->dtype), stored = 4 * bytes;
    const uintptr_t stored_bits = (uintptr_t)args->inputs | (uintptr_t)args->coeffs | (uintptr_t)args->outputs |
                                  (args->inputs_by | args->coeffs_by | args->outputs_by) * bytes;
    const uintptr_t state_bits = (uintptr_t)args->states | (uintptr_t)args->new_states;
    return args->channels % 4 == 0 && stored_bits % stored == 0 && state_bits % (4 * sizeof(float)) == 0 ? 4 : 1;
}

static bool is_right(const struct step_args *args)
{
    const size_t bytes = dtype_bytes(args->dtype), most = (size_t)PTRDIFF_MAX / 4;
    const uintptr_t stored_bits = (uintptr_t)args->inputs | (uintptr_t)args->coeffs | (uintptr_t)args->outputs;
    const uintptr_t state_bits = (uintptr_t)args->states | (uintptr_t)args->new_states;
    const size_t steps[] = {args->inputs_by, args->coeffs_by, args->outputs_by};
    if ((unsigned)args->dtype >= NUM_DTYPES || args->inputs == NULL || args->coeffs == NULL || args->outputs == NULL ||
        stored_bits % bytes != 0 || args->num_slots > most / args->channels ||
        (args->slots == NULL && args->num_slots < args->batch) || (uintptr_t)args->slots % sizeof(int) != 0)
        return false;
    if (args->num_slots != 0 && (args->states == NULL || args->new_states == NULL || state_bits % sizeof(float) != 0))
        return false;
    for (int i = 0; i < 3; i++)
        if ((args->batch > 1 && steps[i] < args->channels) || steps[i] > most / args->batch)
            return false;
    return true;
}

typedef void step_kernel_of(struct step_args, unsigned);

extern "C" cudaError_t layout_step(const struct step_args *given, cudaStream_t stream)
{
    struct step_args args = *given;
    if (args.batch == 0 || args.channels == 0)
        return cudaSuccess;
    args.inputs_by = args.inputs_by != 0 ? args.inputs_by : args.channels;
    args.coeffs_by = args.coeffs_by != 0 ? args.coeffs_by : args.channels;
    args.outputs_by = args.outputs_by != 0 ? args.outputs_by : args.channels;
    if (!is_right(&args))
        return cudaErrorInvalidValue;
    const int width = width_of(&args);
    const size_t row_blocks = (args.channels / width + THREADS - 1) / THREADS;
    if (row_blocks > 0x7FFFFFFF / args.batch)
        return cudaErrorInvalidValue;
    step_kernel_of *const kernel =
        width == 4 ? by_dtype(args.dtype, step_row<FLOAT32, 4>, step_row<BF16, 4>, step_row<FP16, 4>)
                   : by_dtype(args.dtype, step_row<FLOAT32, 1>, step_row<BF16, 1>, step_row<FP16, 1>);
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    if (error != cudaSuccess)
        return error;
    cudaLaunchConfig_t launch = launch_of(row_blocks * args.batch, THREADS, 0, stream);
    cudaLaunchAttribute attribute = begins_early();
    launch.attrs = &attribute;
    launch.numAttrs = gpu.arch >= 90 ? 1 : 0;
    return cudaLaunchKernelEx(&launch, kernel, args, (unsigned)row_blocks);
}
