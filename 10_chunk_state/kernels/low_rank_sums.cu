/* SPDX-License-Identifier: MIT */
/* low_rank_sums.cu - the second launch of low_rank_backward.cu: the slices' parts of each sum, in the order of the
   slices. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "load_store.cuh"
#include "low_rank_plan.h"
#include "low_rank_sums.h"

/* Thread i adds up the slices' parts of four elements from 4 i on: of d_W, d_Y or d_gamma. */
template <int dtype>
static __global__ void add_slices(struct part_counts counts, int slices, const float *__restrict__ parts,
                                  float *__restrict__ d_gamma, void *__restrict__ d_W, void *__restrict__ d_Y)
{
    const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4, ranks = counts.ranks;
    float sum[4], more[4];
    if (first >= 2 * ranks + counts.decays)
        return;
    stream4<FLOAT32>(parts, first, sum);
    for (int s = 1; s < slices; s++) {
        stream4<FLOAT32>(parts, s * counts.all + first, more);
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[c] += more[c];
    }
    if (ranks % 4 == 0 && counts.decays % 4 == 0) { /* all four are of the same array */
        if (first < ranks)
            write4<dtype>(d_W, first, sum);
        else if (first < 2 * ranks)
            write4<dtype>(d_Y, first - ranks, sum);
        else
            write4<FLOAT32>(d_gamma, first - 2 * ranks, sum);
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const size_t i = first + c;
        if (i < ranks)
            write1<dtype>(d_W, i, sum[c]);
        else if (i < 2 * ranks)
            write1<dtype>(d_Y, i - ranks, sum[c]);
        else if (i < 2 * ranks + counts.decays)
            d_gamma[i - 2 * ranks] = sum[c];
    }
}

extern "C" struct part_counts low_rank_counts(const struct chunk_state_args *args)
{
    const size_t rows = args->batch * args->chunks * args->heads;
    const size_t decays = rows * args->decays, ranks = rows * args->dk * args->rank;
    const struct part_counts counts = {decays, ranks, (decays + 2 * ranks + 3) / 4 * 4};
    return counts;
}

extern "C" size_t low_rank_parts_bytes(const struct chunk_state_args *args)
{
    return (args->dv + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS * low_rank_counts(args).all * sizeof(float);
}

/* The states, if they must be computed, come behind the parts. */
extern "C" size_t chunk_state_low_rank_workspace(const struct chunk_state_args *args, bool backward)
{
    return backward ? low_rank_parts_bytes(args) + backward_workspace(args, 1, 1) : 0;
}

extern "C" cudaError_t low_rank_add_slices(const struct chunk_state_args *args, const float *parts, int slices,
                                           cudaStream_t stream)
{
    const struct part_counts counts = low_rank_counts(args);
    const size_t blocks = (counts.all / 4 + 255) / 256;
    const auto add = by_dtype(args->dtype, add_slices<FLOAT32>, add_slices<BF16>, add_slices<FP16>);
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 256, 0, stream);
    return cudaLaunchKernelEx(&launch, add, counts, slices, parts, args->d_gamma, args->d_W, args->d_Y);
}
