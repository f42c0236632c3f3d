/* SPDX-License-Identifier: MIT */
/* step.cu - one position of a chunkwise layer, in place. The states are all that counts: each is loaded and stored
   once. A warp has `4 * width` columns of a head's state with all their rows, so that it needs no other warp:

       width 4     columns 0-3   4-7      8-11     12-15
       row 0       lane 0        lane 1   lane 2   lane 3        a lane has four columns of every 8th row in registers,
       row 1       lane 4        lane 5   ...                    and asks for all of them at once
       ...
       row 8       lane 0        ...                             (above 128 rows two columns, for want of registers)

       p   = Y^T h                        a sum over rows: over the lane's, then over the 8 lanes that have the others
       h   = gamma h - W p + k v^T        each lane its rows
       out = h^T q                        the same sum again                                                       */
#include <cuda_runtime.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "load_store.cuh"

enum { THREADS = 128, STEP_COLUMN_LANES = 4, STEP_ROW_LANES = 32 / STEP_COLUMN_LANES };

/* Sums over the lanes that have other rows of the same columns. */
template <int width>
static __device__ __forceinline__ void sum_over_rows(float sum[width])
{
#pragma unroll
    for (int apart = STEP_COLUMN_LANES; apart < 32; apart *= 2)
#pragma unroll
        for (int c = 0; c < width; c++)
            sum[c] += __shfl_xor_sync(0xFFFFFFFFu, sum[c], apart);
}

/* `rows`: of a lane, so up to rows * STEP_ROW_LANES of a state. `slices`: the warps of a head. */
template <int dtype, int rows, int width>
static __global__ void __launch_bounds__(THREADS, 1) /* 1: or ptxas spills a register to have more blocks on sm_75 */
    chunk_step_slices(struct chunk_step_args args, size_t slices, size_t warps)
{
    next_may_begin(); /* the next layer's blocks, which then wait below, as these do */
    previous_is_done();
    const size_t warp = (size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const size_t head = warp / slices % args.heads, row = warp / slices / args.heads;
    if (warp >= warps)
        return;
    const long long slot = args.slots != NULL ? args.slots[row] : (long long)row;
    if (slot < 0 || slot >= (long long)args.num_slots)
        return;
    const int lane = threadIdx.x % 32, first = lane / STEP_COLUMN_LANES;
    const size_t column = (warp % slices * STEP_COLUMN_LANES + lane % STEP_COLUMN_LANES) * width;
    const size_t state = (slot * args.heads + head) * args.dk * args.dv + column;
    const bool inside = column < args.dv, ranks = args.W != NULL;

    /* [load] The lane's part of the state; what is not there is 0. */
    float h[rows][width];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const size_t i = first + r * STEP_ROW_LANES;
#pragma unroll
        for (int c = 0; c < width; c++)
            h[r][c] = 0.0f;
        if (inside && i < args.dk) {
            if (width == 4)
                read4<FLOAT32>(args.state + state + i * args.dv, 0, h[r]);
            else if (width == 2)
                read2<FLOAT32>(args.state + state + i * args.dv, 0, h[r]);
            else
                h[r][0] = args.state[state + i * args.dv];
        }
    }
    /* [project] */
    float p[width] = {}, out[width] = {}, v[width] = {};
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const size_t i = first + r * STEP_ROW_LANES;
        const float y = ranks && i < args.dk ? read1<dtype>(args.Y, row * args.Y_by + head * args.dk + i) : 0.0f;
#pragma unroll
        for (int c = 0; c < width; c++)
            p[c] += i < args.dk ? y * h[r][c] : 0.0f;
    }
    if (ranks)
        sum_over_rows<width>(p);
#pragma unroll
    for (int c = 0; c < width; c++)
        v[c] = inside ? read1<dtype>(args.v, row * args.v_by + head * args.dv + column + c) : 0.0f;
        /* [update] The new state, and what its rows add to the output. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const size_t i = first + r * STEP_ROW_LANES, of_head = head * args.dk + i;
        if (i >= args.dk)
            continue;
        const float w = ranks ? read1<dtype>(args.W, row * args.W_by + of_head) : 0.0f;
        const float k = read1<dtype>(args.k, row * args.k_by + of_head);
        const float q = read1<dtype>(args.q, row * args.q_by + of_head);
        const float gamma = args.gamma[row * args.gamma_by + (args.decays == 1 ? head : of_head)];
#pragma unroll
        for (int c = 0; c < width; c++) {
            h[r][c] = gamma * h[r][c] + k * v[c];
            if (ranks)
                h[r][c] -= w * p[c];
            out[c] += q * h[r][c];
        }
        if (inside && width == 4)
            *(float4 *)(args.new_state + state + i * args.dv) =
                make_float4(h[r][0], h[r][1 % width], h[r][2 % width], h[r][3 % width]);
        else if (inside && width == 2)
            *(float2 *)(args.new_state + state + i * args.dv) = make_float2(h[r][0], h[r][1 % width]);
        else if (inside)
            args.new_state[state + i * args.dv] = h[r][0];
    }
    sum_over_rows<width>(out);
#pragma unroll
    for (int c = 0; c < width; c++)
        if (inside && first == c) /* each of the lanes with these columns has the sums, and stores one */
            write1<dtype>(args.out, row * args.out_by + head * args.dv + column + c, out[c]);
}

/* Whether sizes multiplied are few enough to count bytes of. */
static bool are_countable(const size_t sizes[4])
{
    size_t left = (size_t)PTRDIFF_MAX / 4;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] != 0 && left / sizes[i] == 0)
            return false;
        left = sizes[i] != 0 ? left / sizes[i] : left;
    }
    return true;
}

static bool is_right(const struct chunk_step_args *args)
{
    const size_t rows[] = {args->q_by, args->k_by, args->W_by, args->Y_by, args->v_by, args->out_by, args->gamma_by};
    const uintptr_t stored = (uintptr_t)args->q | (uintptr_t)args->k | (uintptr_t)args->v | (uintptr_t)args->W |
                             (uintptr_t)args->Y | (uintptr_t)args->out;
    const uintptr_t floats =
        (uintptr_t)args->gamma | (uintptr_t)args->state | (uintptr_t)args->new_state | (uintptr_t)args->slots;
    const size_t states[] = {args->num_slots, args->heads, args->dk, args->dv};
    if (stored % dtype_bytes(args->dtype) != 0 || floats % 4 != 0 || args->q == NULL || args->k == NULL ||
        args->v == NULL || args->gamma == NULL || args->out == NULL || (args->W == NULL) != (args->Y == NULL))
        return false;
    if ((args->slots == NULL && args->num_slots < args->batch) ||
        (args->num_slots != 0 && (args->state == NULL || args->new_state == NULL)))
        return false;
    for (int i = 0; i < 7; i++) {
        const size_t least = args->heads * (i < 4 ? args->dk : i < 6 ? args->dv : args->decays);
        const size_t row[] = {args->batch, rows[i], 1, 1};
        if ((args->batch > 1 && rows[i] < least) || !are_countable(row))
            return false;
    }
    return are_countable(states);
}

typedef void step_kernel_of(struct chunk_step_args, size_t, size_t);

template <int dtype>
static step_kernel_of *kernel_of(size_t dk, int width)
{
    if (width == 1)
        return dk <= 64    ? chunk_step_slices<dtype, 64 / STEP_ROW_LANES, 1>
               : dk <= 128 ? chunk_step_slices<dtype, 128 / STEP_ROW_LANES, 1>
                           : chunk_step_slices<dtype, CHUNK_STEP_MAX_ROWS / STEP_ROW_LANES, 1>;
    return dk <= 64    ? chunk_step_slices<dtype, 64 / STEP_ROW_LANES, 4>
           : dk <= 128 ? chunk_step_slices<dtype, 128 / STEP_ROW_LANES, 4>
                       : chunk_step_slices<dtype, CHUNK_STEP_MAX_ROWS / STEP_ROW_LANES, 2>;
}

extern "C" cudaError_t chunk_state_step(const struct chunk_step_args *given, cudaStream_t stream)
{
    struct chunk_step_args args = *given;
    if (args.batch == 0 || args.heads == 0 || args.dv == 0)
        return cudaSuccess;
    const size_t sizes[] = {args.batch, args.heads, args.dk, args.dv};
    if ((unsigned)args.dtype >= NUM_DTYPES || args.dk == 0 || args.dk > CHUNK_STEP_MAX_ROWS ||
        (args.decays != 1 && args.decays != args.dk) || !are_countable(sizes))
        return cudaErrorInvalidValue;
    size_t *const rows[] = {&args.q_by, &args.k_by, &args.W_by, &args.Y_by, &args.v_by, &args.out_by, &args.gamma_by};
    for (int i = 0; i < 7; i++)
        if (*rows[i] == 0)
            *rows[i] = args.heads * (i < 4 ? args.dk : i < 6 ? args.dv : args.decays);
    if (!is_right(&args))
        return cudaErrorInvalidValue;
    const bool in_fours = args.dv % 4 == 0 && ((uintptr_t)args.state | (uintptr_t)args.new_state) % 16 == 0;
    const int width = !in_fours ? 1 : args.dk <= 128 ? 4 : 2;
    const size_t slices = (args.dv - 1) / (STEP_COLUMN_LANES * width) + 1, warps = args.batch * args.heads * slices;
    const size_t blocks = (warps - 1) / (THREADS / 32) + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    step_kernel_of *const kernel = args.dtype == BF16   ? kernel_of<BF16>(args.dk, width)
                                   : args.dtype == FP16 ? kernel_of<FP16>(args.dk, width)
                                                        : kernel_of<FLOAT32>(args.dk, width);
    cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    cudaLaunchAttribute attribute = begins_early();
    launch.attrs = &attribute;
    launch.numAttrs = LINREC_ARCH >= 90 ? 1 : 0;
    return cudaLaunchKernelEx(&launch, kernel, args, slices, warps);
}
