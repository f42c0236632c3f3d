/* SPDX-License-Identifier: MIT */
/* layer_parts.cu - see layer_parts.h. Two kernels, for two kinds of sums:

       add_columns    d_B and d_C of a step: a thread has one of a group's dk columns, and adds the parts of all blocks
                      of all heads of the group. These lie one behind the other, dk apart.
       add_steps      a block has a head, a thread every 256th step of all batches. It adds up the step's parts, has
                      d_dt of them, and joins d_A, d_D and d_dt_bias; then the threads' sums meet as a tree. */
#include <cuda_runtime.h>

#include "../../09_selective_scan/kernels/activations.cuh"
#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "layer_parts.h"

enum { THREADS = 256 };

static size_t column_bytes(const struct layer_args *args, size_t parts)
{
    return (args->batch * args->seq_len * args->heads * parts * args->dk * sizeof(float) + 15) / 16 * 16;
}

extern "C" size_t layer_parts_size(const struct layer_args *args, size_t parts)
{
    const size_t steps = args->batch * args->seq_len * args->heads * parts;
    return 2 * column_bytes(args, parts) + (steps * sizeof(struct layer_step_part) + 15) / 16 * 16;
}

extern "C" struct layer_parts layer_parts_at(const struct layer_args *args, size_t parts)
{
    char *const begin = (char *)args->workspace;
    const size_t bytes = column_bytes(args, parts);
    struct layer_parts at = {parts, (float *)begin, (float *)(begin + bytes),
                             (struct layer_step_part *)(begin + 2 * bytes)};
    return at;
}

/* blockIdx.y: 0 for d_B, 1 for d_C. */
template <int dtype>
static __global__ void __launch_bounds__(THREADS) add_columns(struct layer_backward_args args, struct layer_parts parts)
{
    const size_t dk = args.layer.dk, groups = args.layer.groups, i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.layer.batch * args.layer.seq_len * groups * dk)
        return;
    const size_t count = args.layer.heads / groups * parts.parts;
    const float *const part = (blockIdx.y == 0 ? parts.d_B : parts.d_C) + i / dk * count * dk + i % dk;
    float sum = 0.0f;
    for (size_t p = 0; p < count; p++)
        sum += part[p * dk];
    write1<dtype>(blockIdx.y == 0 ? args.d_B : args.d_C, i, sum);
}

template <int dtype>
static __global__ void __launch_bounds__(THREADS) add_steps(struct layer_backward_args args, struct layer_parts parts)
{
    __shared__ float sums[3][THREADS];
    const size_t head = blockIdx.x, heads = args.layer.heads;
    const float A = args.layer.A[head], bias = args.layer.dt_bias != NULL ? args.layer.dt_bias[head] : 0.0f;
    float d_A = 0.0f, d_D = 0.0f, d_bias = 0.0f;
    for (size_t step = threadIdx.x; step < args.layer.batch * args.layer.seq_len; step += THREADS) {
        const struct layer_step_part *const part = parts.steps + (step * heads + head) * parts.parts;
        struct layer_step_part sum = {0.0f, 0.0f, 0.0f};
        for (size_t p = 0; p < parts.parts; p++)
            sum.r += part[p].r, sum.gb += part[p].gb, sum.d_D += part[p].d_D;
        const float v = read1<dtype>(args.layer.dt, step * heads + head) + bias;
        const float d_s = A * sum.r + sum.gb, d_dt = args.layer.dt_softplus ? d_s * sigmoid(v) : d_s;
        write1<dtype>(args.d_dt, step * heads + head, d_dt);
        d_A += step_of(v, args.layer.dt_softplus) * sum.r;
        d_D += sum.d_D;
        d_bias += d_dt;
    }
    sums[0][threadIdx.x] = d_A, sums[1][threadIdx.x] = d_D, sums[2][threadIdx.x] = d_bias;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int i = 0; i < 3 && threadIdx.x < half; i++)
            sums[i][threadIdx.x] += sums[i][threadIdx.x + half];
    }
    if (threadIdx.x != 0)
        return;
    args.d_A[head] = sums[0][0];
    if (args.d_D != NULL)
        args.d_D[head] = sums[1][0];
    if (args.d_dt_bias != NULL)
        args.d_dt_bias[head] = sums[2][0];
}

extern "C" cudaError_t layer_add_parts(const struct layer_backward_args *args, const struct layer_parts *parts,
                                       cudaStream_t stream)
{
    const struct layer_args *const layer = &args->layer;
    const size_t columns = layer->batch * layer->seq_len * layer->groups * layer->dk;
    const size_t blocks = (columns + THREADS - 1) / THREADS;
    if (blocks > 0x7FFFFFFF || layer->heads > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t first = launch_of(dim3((unsigned)blocks, 2), THREADS, 0, stream);
    const cudaLaunchConfig_t second = launch_of((unsigned)layer->heads, THREADS, 0, stream);
    const cudaError_t error = cudaLaunchKernelEx(
        &first, by_dtype(layer->dtype, add_columns<FLOAT32>, add_columns<BF16>, add_columns<FP16>), *args, *parts);
    if (error != cudaSuccess)
        return error;
    return cudaLaunchKernelEx(&second, by_dtype(layer->dtype, add_steps<FLOAT32>, add_steps<BF16>, add_steps<FP16>),
                              *args, *parts);
}
