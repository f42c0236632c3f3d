/* SPDX-License-Identifier: MIT */
/* float4.cu - blocked.cu with the elements of a thread dealt out differently: a float4, four consecutive elements, for
   each lane. So a thread still has elements to scan alone, and a warp moves 512 consecutive bytes in one request. A
   thread that wants more elements takes more rows:

       tile   warp 0   row 0   |lane 0    |lane 1    | ... |lane 31   |      128 elements
                       row 1   |lane 0    |lane 1    | ... |lane 31   |
              warp 1   row 0   ...

   A float4 lies at a multiple of 16 bytes, but a sequence may begin at any multiple of 4. So its first tile begins at
   the multiple of 16 at or before it, and positions are counted from there. The sequence's own elements are [begin,
   end):

              begin                                            end
       |.  .  0  1 |2  3  4  5 |6  7  8  9 | ... |      | L-2 L-1 .  . |

   A group of four that an edge of the sequence cuts moves element by element, and only the sequence's own elements. */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "tiles.h"

/* The group of four from element `at` of a tile on; what is not in [first, last) becomes `otherwise`. */
static __device__ __forceinline__ void load4(const float *tile, int at, int first, int last, float otherwise,
                                             float *four)
{
    if (at >= first && at + 4 <= last) {
        const float4 whole = *(const float4 *)(tile + at);
        four[0] = whole.x, four[1] = whole.y, four[2] = whole.z, four[3] = whole.w;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = at + i >= first && at + i < last ? tile[at + i] : otherwise;
    }
}

static __device__ __forceinline__ void store4(float *tile, int at, int first, int last, const float *four)
{
    if (at >= first && at + 4 <= last) {
        *(float4 *)(tile + at) = make_float4(four[0], four[1], four[2], four[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= first && at + i < last)
                tile[at + i] = four[i];
    }
}

/* [places] Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int rows>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    float4_forward(size_t seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                   float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, origin = start & ~(size_t)3;
    const int begin = (int)(start - origin);
    const size_t end = begin + seq_len;
    float x[rows][4], c[rows][4];
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */

    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = end - base < (size_t)tile_len ? (int)(end - base) : tile_len;
        const size_t tile = origin + base; /* where in the arrays the tile begins */

        /* [load] 1. Load. What is not there becomes x = 0 and c = 1, which changes nothing: y * 1 + 0 = y. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            load4(inputs + tile, own + r * PIPE_ROW, first, last, 0.0f, x[r]);
            load4(coeffs + tile, own + r * PIPE_ROW, first, last, 1.0f, c[r]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
            if (base == 0 && own + i == begin)
                c[0][i] = 1.0f;

        /* [scan] 2. Each group of four (now x is its sum so far, c its product), the lanes of a row, the rows of the
           warp. */
        struct pair before[rows], whole_warp;
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int i = 1; i < 4; i++) {
                x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
                c[r][i] = c[r][i - 1] * c[r][i];
            }
            const struct pair mine = {c[r][3], x[r][3]};
            const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
            before[r] = lane_before(up_to_here, lane);
            if (r > 0)
                before[r] = pair_join(whole_warp, before[r]);
            whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
        }

        /* [carry] 3. The warps of the block, and the carry: lane w computes what leaves warp w. */
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* [store] 4. What comes in is added, and the tile is stored. Nothing comes into the sequence's first warp, nor
           into its first group; adding 0 * c would not do, because 0 * infinity is NaN. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            if (base > 0 || threadIdx.x > 0 || r > 0) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[r][i] = into * c[r][i] + x[r][i];
            }
            store4(outputs + tile, own + r * PIPE_ROW, first, last, x[r]);
        }
    }
}

extern "C" cudaError_t pipe_float4_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 2, 256, 1);
    const cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    void (*const kernel)(size_t, const float *, const float *, float *) = config.rows == 1   ? float4_forward<1>
                                                                          : config.rows == 2 ? float4_forward<2>
                                                                                             : float4_forward<4>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, args->inputs, args->coeffs, args->outputs);
}
