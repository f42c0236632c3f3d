/* SPDX-License-Identifier: MIT */
/* launch.cu - the kernels of decay.h: right ones, and some with a mistake each. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdint.h>

#include "decay.h"

enum mistake { NO_MISTAKE, NO_START, NO_SIGN, NO_PAIR, NO_LAST, PAST, CHANGES, LATE, LOST_ROW, DIRTY, CUT };

/* An element of an array that is kept in the type of --type. */
static __device__ float get(const struct decay_args *args, const void *values, size_t i)
{
    return args->dtype == BF16   ? __bfloat162float(((const __nv_bfloat16 *)values)[i])
           : args->dtype == FP16 ? __half2float(((const __half *)values)[i])
                                 : ((const float *)values)[i];
}

static __device__ void put(const struct decay_args *args, void *values, size_t i, float value)
{
    if (args->dtype == BF16)
        ((__nv_bfloat16 *)values)[i] = __float2bfloat16_rn(value);
    else if (args->dtype == FP16)
        ((__half *)values)[i] = __float2half_rn(value);
    else
        ((float *)values)[i] = value;
}

/* Thread r walks row r. */
template <int mistake>
static __global__ void walk_forward(struct decay_args args)
{
    const size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x, columns = args.columns;
    if (r >= args.rows)
        return;
    const float sign = args.negated && mistake != NO_SIGN ? -1.0f : 1.0f;
    float y = args.start != NULL && mistake != NO_START ? args.start[r] : 0.0f;
    for (size_t c = 0; c < columns; c++) {
        y = y * (sign * args.decay[c]) + get(&args, args.x, r * columns + c);
        if (mistake != NO_LAST || c + 1 < columns)
            put(&args, args.y, r * columns + c, y);
        if (mistake == CUT && args.dtype == BF16) /* the upper half as it is: not rounded */
            ((unsigned short *)args.y)[r * columns + c] = (unsigned short)(__float_as_uint(y) >> 16);
    }
    if (mistake == NO_PAIR && args.negated && args.start == NULL)
        y = 0.0f;
    if (args.last != NULL)
        args.last[r] = y;
    if (mistake == PAST && r + 1 == args.rows)
        put(&args, args.y, args.rows * columns, y);
    if (mistake == CHANGES && r == 0)
        put(&args, const_cast<void *>(args.x), 0, 2.0f);
}

/* Thread r walks row r from its end; the products go to the workspace, if there is one. */
template <int mistake>
static __global__ void walk_backward(struct decay_args args)
{
    const size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x, columns = args.columns;
    if (r >= args.rows)
        return;
    const float start = args.start != NULL ? args.start[r] : 0.0f;
    const float sign = args.negated ? -1.0f : 1.0f;
    float d_x = 0.0f;
    if (mistake == DIRTY && columns != 0 && !isnan(args.workspace[r * columns]))
        return; /* it takes the last launch's products for its own, and the row as done */
    for (size_t c = columns; c-- > 0;) {
        const size_t i = r * columns + c;
        const size_t from = mistake == LATE ? c : c + 1;
        d_x = (c + 1 < columns ? d_x * (sign * args.decay[from]) : 0.0f) + get(&args, args.d_y, i);
        put(&args, args.d_x, i, d_x);
        if (args.workspace != NULL)
            args.workspace[i] = sign * (c > 0 ? get(&args, args.y, i - 1) : start) * d_x;
    }
    if (args.d_start != NULL)
        args.d_start[r] = d_x * (sign * args.decay[0]);
}

/* Thread c adds up column c. */
template <int mistake>
static __global__ void add_rows(struct decay_args args)
{
    const size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x, columns = args.columns;
    if (c >= columns)
        return;
    float sum = 0.0f;
    for (size_t r = mistake == LOST_ROW ? 1 : 0; r < args.rows; r++) {
        const size_t i = r * columns + c;
        const float before = c > 0 ? get(&args, args.y, i - 1) : args.start != NULL ? args.start[r] : 0.0f;
        sum += args.workspace != NULL ? args.workspace[i] : (args.negated ? -before : before) * get(&args, args.d_x, i);
    }
    args.d_decay[c] = sum;
}

static unsigned blocks_of(size_t items, int threads)
{
    return (unsigned)((items + threads - 1) / threads);
}

template <int mistake>
static cudaError_t forward(const struct decay_args *args, cudaStream_t stream)
{
    const int threads = args->threads != 0 ? args->threads : 64;
    if (args->rows == 0)
        return cudaSuccess;
    if (threads > 512)
        return cudaErrorNotSupported;
    walk_forward<mistake><<<blocks_of(args->rows, threads), threads, 0, stream>>>(*args);
    return cudaGetLastError();
}

template <int mistake>
static cudaError_t backward(const struct decay_args *args, cudaStream_t stream)
{
    const int threads = args->threads != 0 ? args->threads : 64;
    if (args->columns == 0)
        return cudaSuccess;
    if (args->rows != 0)
        walk_backward<mistake><<<blocks_of(args->rows, threads), threads, 0, stream>>>(*args);
    add_rows<mistake><<<blocks_of(args->columns, threads), threads, 0, stream>>>(*args);
    return cudaGetLastError();
}

extern "C" cudaError_t decay_serial_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_MISTAKE>(args, stream);
}

extern "C" cudaError_t decay_serial_backward(const struct decay_args *args, cudaStream_t stream)
{
    return backward<NO_MISTAKE>(args, stream);
}

extern "C" cudaError_t decay_blocks_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_MISTAKE>(args, stream);
}

extern "C" cudaError_t decay_blocks_backward(const struct decay_args *args, cudaStream_t stream)
{
    return args->workspace == NULL && args->rows != 0 && args->columns != 0 ? cudaErrorInvalidValue
                                                                            : backward<NO_MISTAKE>(args, stream);
}

extern "C" cudaError_t decay_no_start_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_START>(args, stream);
}

extern "C" cudaError_t decay_no_sign_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_SIGN>(args, stream);
}

extern "C" cudaError_t decay_no_pair_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_PAIR>(args, stream);
}

extern "C" cudaError_t decay_no_last_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<NO_LAST>(args, stream);
}

extern "C" cudaError_t decay_past_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<PAST>(args, stream);
}

extern "C" cudaError_t decay_changes_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<CHANGES>(args, stream);
}

extern "C" cudaError_t decay_late_backward(const struct decay_args *args, cudaStream_t stream)
{
    return backward<LATE>(args, stream);
}

extern "C" cudaError_t decay_dirty_backward(const struct decay_args *args, cudaStream_t stream)
{
    return backward<DIRTY>(args, stream);
}

extern "C" cudaError_t decay_lost_row_backward(const struct decay_args *args, cudaStream_t stream)
{
    return backward<LOST_ROW>(args, stream);
}

extern "C" cudaError_t decay_cut_forward(const struct decay_args *args, cudaStream_t stream)
{
    return forward<CUT>(args, stream);
}

/* A partial kernel: it computes nothing of the result. */
extern "C" cudaError_t decay_empty_forward(const struct decay_args *args, cudaStream_t stream)
{
    (void)args, (void)stream;
    return cudaSuccess;
}
