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

   A lane takes `ROWS` rows. When it knows their slots, it asks for all that it needs of them before it waits for any of
   it. A, which they share, is loaded once. What belongs to a channel of a row, its step above all, is prepared by one
   of the channel's lanes. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <stdint.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/launch_of.h"
#include "activations.cuh"
#include "kernels.h"
#include "lane_sums.cuh"

enum { THREADS = 128, ROWS = 4, RESIDENT = 6 }; /* so many blocks of a multiprocessor hide each other's waits */

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

/* States, which nobody will ask for again soon. */
template <int width>
static __device__ __forceinline__ void stream_neighbours(const float *from, float to[width])
{
    if (width == 4) {
        const float4 four = __ldcs((const float4 *)from);
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
        to[0] = __ldcs(from);
    }
}

template <int width>
static __device__ __forceinline__ void store_neighbours(float *to, const float from[width])
{
    if (width == 4)
        __stcs((float4 *)to, make_float4(from[0], from[1], from[2], from[3]));
    else
        to[0] = from[0];
}

/* The row that `fold_once` leaves with a lane, or the first of several. The lane also prepares it for the others. */
template <int lanes>
static __device__ __forceinline__ int own_row(int part)
{
    return (lanes > 1 ? (part & 1) * 2 : 0) + (lanes > 2 ? part >> 1 & 1 : 0);
}

/* A block has THREADS / lanes channels, blockIdx.x of them, and ROWS rows, blockIdx.y of them and every gridDim.y-th
   after these. A lane without a channel, a row or a slot of its own reads what others read, the last channel's, the
   last row's, and A for a state, and stores nothing: so no load waits for a branch. Numbers of rows and channels have
   32 bits, since addresses are a good part of what a warp computes here. */
template <typename dtype, int width, int lanes>
static __global__ void __launch_bounds__(THREADS, width == 4 && lanes > 1 ? RESIDENT : 1)
    selective_step_rows(struct selective_step_args args)
{
    __shared__ __align__(16) float states_here[ROWS][THREADS][width]; /* each thread has its own */
    constexpr int owned = lanes < ROWS ? ROWS / lanes : 1;
    constexpr bool whole = width == 4; /* all lanes have the same number of states */
    next_may_begin();                  /* the next layer's blocks, which then wait below, as these do */
    previous_is_done();
    const int part = threadIdx.x % lanes, own = own_row<lanes>(part), states = (int)args.states;
    const unsigned wanted = blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes, channels = (unsigned)args.channels;
    const unsigned channel = wanted < channels ? wanted : channels - 1;
    const unsigned batch = (unsigned)args.batch, num_slots = (unsigned)args.num_slots;
    const unsigned group = args.groups == 1 ? 0 : channel / (channels / (unsigned)args.groups);
    const size_t slot_states = args.channels * args.states, of_channel = (size_t)channel * states;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;

    for (unsigned first_row = blockIdx.y * ROWS; first_row < batch; first_row += gridDim.y * ROWS) {
        unsigned row[ROWS], own_rows[owned];
        size_t slot[ROWS];
        unsigned used = 0; /* a bit for each row: this thread has a channel, the batch the row, and the row a slot */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            row[r] = first_row + r < batch ? first_row + r : batch - 1;
            const unsigned number = args.slots != NULL ? (unsigned)args.slots[row[r]] : row[r];
            used |= (wanted < channels && first_row + r < batch && number < num_slots) << r;
            slot[r] = number * slot_states;
        }
#pragma unroll
        for (int i = 0; i < owned; i++)
            own_rows[i] = first_row + own + i < batch ? first_row + own + i : batch - 1;
        float u[owned], delta[owned], gate[owned], step[ROWS], step_u[ROWS], y[ROWS] = {};
        for (int done = 0; done < states; done += lanes * width) {
            /* [load] All that is read but the slots is on its way before any of it is waited for: the states by
               asynchronous copies, which need no registers. */
            const int n = done + part * width;
            const bool mine = whole || n < states;
            const size_t of_group = (size_t)group * states + n;
            float A[width], B[ROWS][width], C[ROWS][width];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (mine)
                    __pipeline_memcpy_async(states_here[r][threadIdx.x],
                                            (used >> r & 1 ? args.state + slot[r] : args.A) + of_channel + n,
                                            4 * width);
            __pipeline_commit();
#pragma unroll
            for (int i = 0; i < owned; i++) {
                u[i] = (float)((const dtype *)args.u)[own_rows[i] * args.u_by + channel];
                delta[i] = (float)((const dtype *)args.delta)[own_rows[i] * args.delta_by + channel];
                gate[i] = args.z != NULL ? (float)((const dtype *)args.z)[own_rows[i] * args.z_by + channel] : 0.0f;
            }
            if (mine) {
                load_neighbours<float, width>(args.A + of_channel + n, A);
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    load_neighbours<dtype, width>((const dtype *)args.B + row[r] * args.B_by + of_group, B[r]);
                    load_neighbours<dtype, width>((const dtype *)args.C + row[r] * args.C_by + of_group, C[r]);
                }
            }
            /* [steps] Those of this lane's own rows, which all lanes get. */
#pragma unroll
            for (int i = 0; i < owned; i++)
                step[i] = step_of(delta[i] + bias, args.delta_softplus);
#pragma unroll
            for (int r = ROWS - 1; r >= 0; r--) {
                const int from = lanes == 1   ? 0
                                 : lanes == 2 ? r / 2
                                              : r / 2 + (r & 1) * 2; /* the lane whose row it is */
                step[r] = __shfl_sync(0xFFFFFFFFu, step[r % owned], from, lanes);
                step_u[r] = step[r] * __shfl_sync(0xFFFFFFFFu, u[r % owned], from, lanes);
                step[r] *= LOG2_E;
            }
            __pipeline_wait_prior(0);
            /* [states] */
#pragma unroll
            for (int r = 0; r < ROWS && mine; r++) {
                float h[width];
                load_neighbours<float, width>(states_here[r][threadIdx.x], h);
#pragma unroll
                for (int v = 0; v < width; v++) {
                    h[v] = fast_exp2(step[r] * A[v]) * h[v] + step_u[r] * B[r][v];
                    y[r] += C[r][v] * h[v];
                }
                if (used >> r & 1)
                    store_neighbours<width>(args.new_state + slot[r] + of_channel + n, h);
            }
        }
        /* [output] The lanes of a channel add up, and each is left with its own rows. */
        if (lanes > 1)
            fold_once<2>(y, part, 1);
        if (lanes > 2)
            fold_once<1>(y, part, 2);
#pragma unroll
        for (int apart = ROWS; apart < lanes; apart *= 2)
            y[0] += __shfl_xor_sync(0xFFFFFFFFu, y[0], apart);
#pragma unroll
        for (int i = 0; i < owned; i++) {
            if (!(used >> (own + i) & 1) || part >= ROWS)
                continue;
            const float out = args.D != NULL ? D * u[i] + y[i] : y[i];
            ((dtype *)args.out)[own_rows[i] * args.out_by + channel] =
                (dtype)(args.z != NULL ? out * silu(gate[i]) : out);
        }
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

typedef void step_kernel_of(struct selective_step_args);

/* The kernel for states of which `width` neighbours are loaded at once, and how many lanes a channel has there: with a
   width of 4 so many that all have the same number of states. */
template <typename dtype, int width>
static step_kernel_of *kernel_of(size_t states, int *lanes)
{
    *lanes = 8;
    while (*lanes > 1 && (width == 4 ? states % (4 * *lanes) != 0 : states <= (size_t)*lanes / 2))
        *lanes /= 2;
    return *lanes == 1   ? selective_step_rows<dtype, width, 1>
           : *lanes == 2 ? selective_step_rows<dtype, width, 2>
           : *lanes == 4 ? selective_step_rows<dtype, width, 4>
                         : selective_step_rows<dtype, width, 8>;
}

template <typename dtype>
static step_kernel_of *kernel_of(const struct selective_step_args *args, int *lanes)
{
    return width_of(args) == 4 ? kernel_of<dtype, 4>(args->states, lanes) : kernel_of<dtype, 1>(args->states, lanes);
}

extern "C" cudaError_t selective_step(const struct selective_step_args *given, cudaStream_t stream)
{
    struct selective_step_args args = *given;
    if (args.batch == 0 || args.channels == 0)
        return cudaSuccess;
    if ((unsigned)args.dtype >= NUM_DTYPES || args.batch > 0x7FFFFFFF || args.channels > 0x7FFFFFFF ||
        args.states == 0 || args.states > SELECTIVE_MAX_STATES || args.groups == 0 || args.channels % args.groups != 0)
        return cudaErrorInvalidValue;
    size_t *const rows[] = {&args.u_by, &args.delta_by, &args.z_by, &args.out_by, &args.B_by, &args.C_by};
    for (int i = 0; i < 6; i++)
        if (*rows[i] == 0)
            *rows[i] = i < 4 ? args.channels : args.groups * args.states;
    if (!is_right(&args))
        return cudaErrorInvalidValue;
    if (args.num_slots > 0x7FFFFFFF)
        args.num_slots = 0x7FFFFFFF; /* as many as an array of int can name */
    int lanes;
    step_kernel_of *const kernel = args.dtype == BF16   ? kernel_of<__nv_bfloat16>(&args, &lanes)
                                   : args.dtype == FP16 ? kernel_of<__half>(&args, &lanes)
                                                        : kernel_of<float>(&args, &lanes);
    const size_t channel_blocks = (args.channels - 1) / (THREADS / lanes) + 1, row_blocks = (args.batch - 1) / ROWS + 1;
    const dim3 blocks((unsigned)channel_blocks, (unsigned)(row_blocks < 65535 ? row_blocks : 65535));
    cudaLaunchConfig_t launch = launch_of(blocks, THREADS, 0, stream);
    cudaLaunchAttribute attribute = begins_early();
    launch.attrs = &attribute;
    launch.numAttrs = LINREC_ARCH >= 90 ? 1 : 0;
    return cudaLaunchKernelEx(&launch, kernel, args);
}
