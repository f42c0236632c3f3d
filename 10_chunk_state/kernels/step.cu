/* SPDX-License-Identifier: MIT */
/* step.cu - one position of a chunkwise layer, in place. The states are all that counts: each is loaded and stored
   once. A block has `8 * width` columns of a head's state, which are lines of 128 bytes, with all their rows:

       width 4            columns 0-3   4-7     ...   28-31
       warp 0   row 0     lane 0        lane 1        lane 7        a lane has four columns of every 16th row in
                row 1     lane 8        lane 9        lane 15       registers, and asks for all of them at once
                ...
       warp 1   row 4     lane 0
       ...
       warp 0   row 16    lane 0

       p   = Y^T h                        a sum over rows: over the lane's, the four lanes', and the warps'
       h   = gamma h - W p + k v^T        each lane its rows
       out = h^T q                        the same sum again                                                       */
#include <cuda_runtime.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "load_store.cuh"

enum { THREADS = 128, NUM_WARPS = THREADS / 32, COLUMN_LANES = 8, ROW_LANES = 32 / COLUMN_LANES };
enum { APART = NUM_WARPS * ROW_LANES }; /* from one row of a lane to its next */

/* Of `width` columns each, sums over the lanes that have other rows of them, and over the block's warps. All threads
   call it, and all get the sums. */
template <int width>
static __device__ __forceinline__ void sum_over_rows(float (*parts)[COLUMN_LANES][width], int warp, int lane,
                                                     float sum[width])
{
#pragma unroll
    for (int apart = COLUMN_LANES; apart < 32; apart *= 2)
#pragma unroll
        for (int c = 0; c < width; c++)
            sum[c] += __shfl_xor_sync(0xFFFFFFFFu, sum[c], apart);
    if (lane < COLUMN_LANES)
#pragma unroll
        for (int c = 0; c < width; c++)
            parts[warp][lane][c] = sum[c];
    __syncthreads();
#pragma unroll
    for (int c = 0; c < width; c++)
        sum[c] = 0.0f;
#pragma unroll
    for (int w = 0; w < NUM_WARPS; w++)
#pragma unroll
        for (int c = 0; c < width; c++)
            sum[c] += parts[w][lane % COLUMN_LANES][c];
}

/* What the lanes of the same rows have loaded for each other: `own[j]` is that of row 8 j + lane % 8. */
static __device__ __forceinline__ float of_row(const float *own, int r)
{
    return __shfl_sync(0xFFFFFFFFu, own[r / COLUMN_LANES], r % COLUMN_LANES, COLUMN_LANES);
}

/* `rows`: of a lane, so up to rows * APART of a state. `slices`: the blocks of a head. */
template <int dtype, int rows, int width>
static __global__ void __launch_bounds__(THREADS) chunk_step_slices(struct chunk_step_args args, unsigned slices)
{
    constexpr int owned = (rows + COLUMN_LANES - 1) / COLUMN_LANES;
    __shared__ float p_parts[NUM_WARPS][COLUMN_LANES][width], out_parts[NUM_WARPS][COLUMN_LANES][width];
    next_may_begin(); /* the next layer's blocks, which then wait below, as these do */
    previous_is_done();
    const size_t head = blockIdx.x / slices % args.heads, row = blockIdx.x / slices / args.heads;
    const long long slot = args.slots != NULL ? args.slots[row] : (long long)row;
    if (slot < 0 || slot >= (long long)args.num_slots)
        return;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = warp * ROW_LANES + lane / COLUMN_LANES;
    const size_t column = (size_t)(blockIdx.x % slices * COLUMN_LANES + lane % COLUMN_LANES) * width;
    const size_t state = (slot * args.heads + head) * args.dk * args.dv + column;
    const bool inside = column < args.dv, ranks = args.W != NULL;

    /* [load] The lane's part of the state, and of what belongs to its rows an eighth. What is not there is 0. */
    float h[rows][width], y[owned], w[owned], k[owned], q[owned], gamma[owned], v[width];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const size_t i = first + r * APART;
#pragma unroll
        for (int c = 0; c < width; c++)
            h[r][c] = 0.0f;
        if (inside && i < args.dk) {
            if (width == 4)
                stream4<FLOAT32>(args.state + state + i * args.dv, 0, h[r]);
            else
                h[r][0] = args.state[state + i * args.dv];
        }
    }
#pragma unroll
    for (int j = 0; j < owned; j++) {
        const int r = j * COLUMN_LANES + lane % COLUMN_LANES;
        const size_t i = first + r * APART, of_head = head * args.dk + i;
        const bool there = r < rows && i < args.dk;
        y[j] = there && ranks ? read1<dtype>(args.Y, row * args.Y_by + of_head) : 0.0f;
        w[j] = there && ranks ? read1<dtype>(args.W, row * args.W_by + of_head) : 0.0f;
        k[j] = there ? read1<dtype>(args.k, row * args.k_by + of_head) : 0.0f;
        q[j] = there ? read1<dtype>(args.q, row * args.q_by + of_head) : 0.0f;
        gamma[j] = there ? args.gamma[row * args.gamma_by + (args.decays == 1 ? head : of_head)] : 0.0f;
    }
#pragma unroll
    for (int c = 0; c < width; c++)
        v[c] = inside ? read1<dtype>(args.v, row * args.v_by + head * args.dv + column + c) : 0.0f;

    /* [project] */
    float p[width] = {}, out[width] = {};
    if (ranks) {
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float y_r = of_row(y, r);
#pragma unroll
            for (int c = 0; c < width; c++)
                p[c] += y_r * h[r][c];
        }
        sum_over_rows<width>(p_parts, warp, lane, p);
    }
    /* [update] The new state, and what its rows add to the output. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const size_t i = first + r * APART;
        const float k_r = of_row(k, r), q_r = of_row(q, r), gamma_r = of_row(gamma, r);
        const float w_r = ranks ? of_row(w, r) : 0.0f;
#pragma unroll
        for (int c = 0; c < width; c++) {
            h[r][c] = gamma_r * h[r][c] + k_r * v[c];
            if (ranks)
                h[r][c] -= w_r * p[c];
            out[c] += i < args.dk ? q_r * h[r][c] : 0.0f;
        }
        if (inside && i < args.dk) {
            if (width == 4)
                write4<FLOAT32>(args.new_state + state + i * args.dv, 0, h[r]);
            else
                args.new_state[state + i * args.dv] = h[r][0];
        }
    }
    sum_over_rows<width>(out_parts, warp, lane, out);
#pragma unroll
    for (int c = 0; c < width; c++)
        if (inside && first == c) /* all threads with these columns have the sums, and some store one */
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

typedef void step_kernel_of(struct chunk_step_args, unsigned);

template <int dtype, int width>
static step_kernel_of *kernel_of(size_t dk)
{
    return dk <= 64    ? chunk_step_slices<dtype, 64 / APART, width>
           : dk <= 128 ? chunk_step_slices<dtype, 128 / APART, width>
                       : chunk_step_slices<dtype, CHUNK_STEP_MAX_ROWS / APART, width>;
}

template <int dtype>
static step_kernel_of *kernel_of_width(size_t dk, int width)
{
    return width == 4 ? kernel_of<dtype, 4>(dk) : kernel_of<dtype, 1>(dk);
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
    const int width = in_fours ? 4 : 1;
    const size_t slices = (args.dv - 1) / (COLUMN_LANES * width) + 1, blocks = args.batch * args.heads * slices;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    step_kernel_of *const kernel = args.dtype == BF16   ? kernel_of_width<BF16>(args.dk, width)
                                   : args.dtype == FP16 ? kernel_of_width<FP16>(args.dk, width)
                                                        : kernel_of_width<FLOAT32>(args.dk, width);
    cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    cudaLaunchAttribute attribute = begins_early();
    launch.attrs = &attribute;
    launch.numAttrs = LINREC_ARCH >= 90 ? 1 : 0;
    return cudaLaunchKernelEx(&launch, kernel, args, (unsigned)slices);
}
