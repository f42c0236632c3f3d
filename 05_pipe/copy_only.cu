/* SPDX-License-Identifier: MIT */
/* copy_only.cu - async.cu without its work: the tiles come through the stages and leave again, with one addition in
   between, so that both arrays are really read. It does not compute the recurrence; it measures the time of the copies
   alone. */
#include <cuda_runtime.h>

#include <cuda_pipeline.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "groups.cuh"
#include "stages.h"

/* Starts the copies of the tile at `base` into a stage: the groups that belong to this thread, of x and of c. One that
   an edge of the sequence [begin, end) cuts is not copied. */
template <int rows>
static __device__ __forceinline__ void tile_send(const float *inputs, const float *coeffs, size_t base, int begin,
                                                 size_t end, int tile_len, int own, float *stage)
{
    const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int at = own + r * PIPE_ROW;
        if (is_whole(at, first, last)) {
            __pipeline_memcpy_async(stage + at, inputs + base + at, 16);
            __pipeline_memcpy_async(stage + tile_len + at, coeffs + base + at, 16);
        }
    }
    __pipeline_commit();
}

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). Shared memory: num_stages tiles of x and
 * c. */
template <int rows>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    copy_only_forward(size_t seq_len, int num_stages, const float *__restrict__ inputs,
                      const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    extern __shared__ __align__(16) float stages[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, origin = start & ~(size_t)3;
    const int begin = (int)(start - origin);
    const size_t end = begin + seq_len;
    float x[rows][4], c[rows][4];

    for (int s = 0; s < num_stages - 1; s++) /* the first tiles; the last stage stays free */
        tile_send<rows>(inputs + origin, coeffs + origin, (size_t)s * tile_len, begin, end, tile_len, own,
                        stages + s * 2 * tile_len);
    int stage = 0, empty = num_stages - 1; /* where this tile lies, and which stage is free */
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = origin + base; /* where in the arrays the tile begins */

        /* 1. The copies of one more tile are started; then this tile must have come. A thread waits for its own copies,
           and takes nothing else. */
        const size_t sent = base + (size_t)(num_stages - 1) * tile_len;
        tile_send<rows>(inputs + origin, coeffs + origin, sent, begin, end, tile_len, own,
                        stages + empty * 2 * tile_len);
        __pipeline_wait_prior(num_stages - 1);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float *const from = stages + stage * 2 * tile_len;
            take4(from, inputs + tile, own + r * PIPE_ROW, first, last, 0.0f, x[r]);
            take4(from + tile_len, coeffs + tile, own + r * PIPE_ROW, first, last, 1.0f, c[r]);
        }
        empty = stage;
        stage = stage + 1 == num_stages ? 0 : stage + 1;

        /* 2. x + c, in place of steps 2 to 4. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = x[r][i] + c[r][i];
            store4(outputs + tile, own + r * PIPE_ROW, first, last, x[r]);
        }
    }
}

extern "C" cudaError_t pipe_copy_only_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 2, 256, 3);
    cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t shared = (size_t)config.stages * 2 * config.threads * config.rows * sizeof(float4);
    void (*const kernel)(size_t, int, const float *, const float *, float *) = config.rows == 1 ? copy_only_forward<1>
                                                                               : config.rows == 2
                                                                                   ? copy_only_forward<2>
                                                                                   : copy_only_forward<4>;
    if ((error = gpu_allow_shared((const void *)kernel, shared, 80)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, config.stages, args->inputs, args->coeffs, args->outputs);
}
