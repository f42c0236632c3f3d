/* SPDX-License-Identifier: MIT */
/* step.cu - one step of the layer, in place. There is no time to walk through, so bytes are all that counts: a state is
   loaded and stored, and what else moves is small beside it. Neighbouring lanes share a channel and have four
   neighbouring states each, so that a warp loads and stores whole lines; they add up the output by shuffles.

       16 states     channel 0                         channel 1
                     n 0-3    4-7     8-11    12-15    n 0-3    4-7  ...
       row 0         lane 0   lane 1  lane 2  lane 3   lane 4   lane 5           slot 5
       row 1         the same lanes                                              slot 0
       row 2                                                                     slot -1: nothing is touched
       row 3                                                                     slot 3

   A lane takes `ROWS` rows, and asks for their states before it computes any. A, which they share, is loaded once. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdint.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/launch_of.h"
#include "activations.cuh"
#include "kernels.h"

enum { THREADS = 128, ROWS = 4 };

/* 1 neighbour or 4, which lie at a multiple of their size. */
template <typename dtype, int width>
static __device__ __forceinline__ void load_neighbours(const dtype *from, float to[width])
{
    if (width == 1) {
        to[0] = (float)from[0];
    } else if (sizeof(dtype) == 4) {
        const float4 four = *(const float4 *)from;
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
        const uint2 bits = *(const uint2 *)from;
        dtype four[4];
        memcpy(four, &bits, sizeof bits);
        for (int v = 0; v < width; v++)
            to[v] = (float)four[v];
    }
}

template <int width>
static __device__ __forceinline__ void store_neighbours(float *to, const float from[width])
{
    if (width == 4)
        *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
    else
        to[0] = from[0];
}

/* A block has THREADS / lanes channels, and `channel_blocks` of them have all channels of a row. */
template <typename dtype, int width>
static __global__ void __launch_bounds__(THREADS)
    selective_step_rows(struct selective_step_args args, int lanes, unsigned channel_blocks)
{
    next_may_begin(); /* the next layer's blocks, which then wait below, as these do */
    previous_is_done();
    const int part = threadIdx.x % lanes;
    const size_t channel = (size_t)(blockIdx.x % channel_blocks) * (THREADS / lanes) + threadIdx.x / lanes;
    const size_t first_row = (size_t)(blockIdx.x / channel_blocks) * ROWS;
    const bool inside = channel < args.channels;
    const size_t group = inside ? channel / (args.channels / args.groups) : 0;
    const float bias = inside && args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = inside && args.D != NULL ? args.D[channel] : 0.0f;

    long long slot[ROWS]; /* -1: the row is empty, or there is none, or no channel */
    float u[ROWS], step[ROWS], y[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const size_t row = first_row + r;
        slot[r] = !inside || row >= args.batch ? -1 : args.slots != NULL ? args.slots[row] : (long long)row;
        slot[r] = slot[r] < (long long)args.num_slots && slot[r] >= 0 ? slot[r] : -1;
        u[r] = step[r] = y[r] = 0.0f;
        if (slot[r] >= 0) {
            u[r] = (float)((const dtype *)args.u)[row * args.u_by + channel];
            step[r] =
                step_of((float)((const dtype *)args.delta)[row * args.delta_by + channel] + bias, args.delta_softplus);
        }
    }
    /* [states] All states of the channel, `lanes` times `width` at a time. */
    for (size_t n = (size_t)part * width; n < args.states && inside; n += (size_t)lanes * width) {
        float A[width], h[ROWS][width];
        load_neighbours<float, width>(args.A + channel * args.states + n, A);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (slot[r] >= 0)
                load_neighbours<float, width>(args.state + (slot[r] * args.channels + channel) * args.states + n, h[r]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (slot[r] < 0)
                continue;
            const size_t row = first_row + r, of_group = group * args.states + n;
            float B[width], C[width];
            load_neighbours<dtype, width>((const dtype *)args.B + row * args.B_by + of_group, B);
            load_neighbours<dtype, width>((const dtype *)args.C + row * args.C_by + of_group, C);
#pragma unroll
            for (int v = 0; v < width; v++) {
                h[r][v] = fast_exp2(step[r] * (A[v] * LOG2_E)) * h[r][v] + step[r] * u[r] * B[v];
                y[r] += C[v] * h[r][v];
            }
            store_neighbours<width>(args.new_state + (slot[r] * args.channels + channel) * args.states + n, h[r]);
        }
    }
    /* [output] The lanes of a channel add up, and share its rows. */
    for (int apart = lanes / 2; apart > 0; apart /= 2)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            y[r] += __shfl_xor_sync(0xFFFFFFFFu, y[r], apart);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const size_t row = first_row + r;
        if (slot[r] < 0 || part != r % lanes)
            continue;
        float out = args.D != NULL ? D * u[r] + y[r] : y[r];
        if (args.z != NULL)
            out *= silu((float)((const dtype *)args.z)[row * args.z_by + channel]);
        ((dtype *)args.out)[row * args.out_by + channel] = (dtype)out;
    }
}

/* How many neighbouring states all arrays allow to be loaded at once: 4 or 1. */
static int width_of(const struct selective_step_args *args)
{
    const size_t of_groups = 4 * dtype_bytes(args->dtype);
    const uintptr_t floats = (uintptr_t)args->state | (uintptr_t)args->new_state | (uintptr_t)args->A;
    const uintptr_t groups = (uintptr_t)args->B | (uintptr_t)args->C;
    return args->states % 4 == 0 && floats % 16 == 0 && groups % of_groups == 0 && (args->B_by | args->C_by) % 4 == 0
               ? 4
               : 1;
}

/* Whether sizes multiplied are few enough to count bytes of. */
static bool are_countable(size_t a, size_t b, size_t c)
{
    const size_t most = (size_t)PTRDIFF_MAX / 4;
    return (b == 0 || a <= most / b) && (c == 0 || a * b <= most / c);
}

static bool is_right(const struct selective_step_args *args)
{
    const size_t rows[] = {args->u_by, args->delta_by, args->z_by, args->out_by, args->B_by, args->C_by};
    const uintptr_t stored = (uintptr_t)args->u | (uintptr_t)args->delta | (uintptr_t)args->B | (uintptr_t)args->C |
                             (uintptr_t)args->z | (uintptr_t)args->out;
    const uintptr_t floats = (uintptr_t)args->A | (uintptr_t)args->D | (uintptr_t)args->delta_bias |
                             (uintptr_t)args->state | (uintptr_t)args->new_state | (uintptr_t)args->slots;
    if (stored % dtype_bytes(args->dtype) != 0 || floats % 4 != 0 || args->u == NULL || args->delta == NULL ||
        args->A == NULL || args->B == NULL || args->C == NULL || args->out == NULL)
        return false;
    if (args->slots == NULL ? args->num_slots < args->batch : false)
        return false;
    if (args->num_slots != 0 && (args->state == NULL || args->new_state == NULL))
        return false;
    for (int i = 0; i < 6; i++) {
        const size_t least = i < 4 ? args->channels : args->groups * args->states;
        if ((args->batch > 1 && rows[i] < least) || !are_countable(rows[i], args->batch, 1))
            return false;
    }
    return are_countable(args->num_slots, args->channels, args->states);
}

typedef void step_kernel_of(struct selective_step_args, int, unsigned);

template <typename dtype>
static step_kernel_of *kernel_of(int width)
{
    return width == 4 ? selective_step_rows<dtype, 4> : selective_step_rows<dtype, 1>;
}

extern "C" cudaError_t selective_step(const struct selective_step_args *given, cudaStream_t stream)
{
    struct selective_step_args args = *given;
    if (args.batch == 0 || args.channels == 0)
        return cudaSuccess;
    if ((unsigned)args.dtype >= NUM_DTYPES || args.states == 0 || args.states > SELECTIVE_MAX_STATES ||
        args.groups == 0 || args.channels % args.groups != 0)
        return cudaErrorInvalidValue;
    size_t *const rows[] = {&args.u_by, &args.delta_by, &args.z_by, &args.out_by, &args.B_by, &args.C_by};
    for (int i = 0; i < 6; i++)
        if (*rows[i] == 0)
            *rows[i] = i < 4 ? args.channels : args.groups * args.states;
    if (!is_right(&args))
        return cudaErrorInvalidValue;
    const int width = width_of(&args);
    int lanes = 1;
    while (lanes < 32 && (size_t)(lanes * width) < args.states)
        lanes *= 2;
    const size_t channel_blocks = (args.channels - 1) / (THREADS / lanes) + 1, row_blocks = (args.batch - 1) / ROWS + 1;
    if (channel_blocks > 0x7FFFFFFF / row_blocks)
        return cudaErrorInvalidValue;
    step_kernel_of *const kernel = args.dtype == BF16   ? kernel_of<__nv_bfloat16>(width)
                                   : args.dtype == FP16 ? kernel_of<__half>(width)
                                                        : kernel_of<float>(width);
    cudaLaunchConfig_t launch = launch_of(channel_blocks * row_blocks, THREADS, 0, stream);
    cudaLaunchAttribute attribute = begins_early();
    launch.attrs = &attribute;
    launch.numAttrs = LINREC_ARCH >= 90 ? 1 : 0;
    return cudaLaunchKernelEx(&launch, kernel, args, lanes, (unsigned)channel_blocks);
}
