/* bulk_last_backward.cu - async_backward.cu with the bulk copy engine, as in bulk_last.cu: a stage holds the tile of
   three arrays, and one thread asks for it. Lengths that are multiples of 4, so there are no edges. */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../05_pipe/bulk_copy.cuh"
#include "backward.h"

/* The tile at `base`, of three arrays, sets off for a stage; behind the end of the sequence there is none. One thread
   calls this. The arrays: at the sequence's origin, its first byte or, reversed, the one behind its last. */
template <int reverse>
static __device__ __forceinline__ void tile_send(const float *d_outputs, const float *coeffs, const float *outputs,
                                                 size_t base, size_t seq_len, int tile_len, float *stage,
                                                 uint64_t *arrived, uint64_t hint)
{
    if (base < seq_len) {
        const size_t count = seq_len - base < (size_t)tile_len ? seq_len - base : tile_len;
        const ptrdiff_t from = reverse ? -(ptrdiff_t)(base + count) : (ptrdiff_t)base;
        const unsigned bytes = (unsigned)(count * sizeof(float));
        mbarrier_expect(arrived, 3 * bytes);
        bulk_load_hint(stage, d_outputs + from, bytes, arrived, hint);
        bulk_load_hint(stage + tile_len, coeffs + from, bytes, arrived, hint);
        bulk_load_hint(stage + 2 * tile_len, outputs + from, bytes, arrived, hint);
    }
}

/* The group of four at `at` from a stage of `last` elements; from there on there is nothing, and it becomes
 * `otherwise`. */
template <int reverse>
static __device__ __forceinline__ void take4(const float *stage, int at, int last, float otherwise, float *four)
{
    const float4 none = make_float4(otherwise, otherwise, otherwise, otherwise);
    const float4 group = at < last ? *(const float4 *)(stage + (reverse ? last - at - 4 : at)) : none;
    four[0] = reverse ? group.w : group.x, four[1] = reverse ? group.z : group.y;
    four[2] = reverse ? group.y : group.z, four[3] = reverse ? group.x : group.w;
}

template <int reverse>
static __device__ __forceinline__ void put4(float *array, size_t at, const float *four)
{
    if (reverse)
        *(float4 *)(array - at - 4) = make_float4(four[3], four[2], four[1], four[0]);
    else
        *(float4 *)(array + at) = make_float4(four[0], four[1], four[2], four[3]);
}

/* Block s computes the gradients of sequence s; `reverse` is the direction of this scan, against that of the pass. All
   arrays: (num_seqs, seq_len), seq_len a multiple of 4. Shared memory: num_stages tiles of three arrays. */
template <int rows, int reverse>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    bulk_last_backward(size_t seq_len, int num_stages, const float *__restrict__ d_outputs,
                       const float *__restrict__ coeffs, const float *__restrict__ outputs,
                       float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    extern __shared__ __align__(128) float stages[];
    __shared__ uint64_t arrived[PIPE_MAX_STAGES]; /* for each stage, whether its tile has come */
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; then a row further on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t origin = (blockIdx.x + (size_t)reverse) * seq_len;
    const uint64_t hint = l2_evict_last();
    float x[rows][4], c[rows][4], y[rows][4];
    float carry = 0.0f;        /* what comes into the tile: the same number in every thread */
    int turn = 0;              /* which of the totals */
    int stage = 0, parity = 0; /* where this tile lies, and of the phase that brings it */

    d_outputs += origin, coeffs += origin, outputs += origin, d_inputs += origin, d_coeffs += origin;
    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < num_stages; s++)
            tile_send<reverse>(d_outputs, coeffs, outputs, (size_t)s * tile_len, seq_len, tile_len,
                               stages + s * 3 * tile_len, &arrived[s], hint);
    }
    __syncthreads(); /* the barriers are there for all */
    for (size_t base = 0; base < seq_len; base += tile_len) {
        const int last = seq_len - base < (size_t)tile_len ? (int)(seq_len - base) : tile_len;

        /* The first output behind the warp's rows is needed, too. */
        const size_t behind = base + (warp + 1) * rows * PIPE_ROW;
        float y_behind = 0.0f;
        if (lane == 0 && behind < seq_len)
            y_behind = outputs[reverse ? -(ptrdiff_t)behind - 1 : (ptrdiff_t)behind];

        /* 1. The tile has come. */
        mbarrier_wait(&arrived[stage], parity);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float *const from = stages + stage * 3 * tile_len;
            take4<reverse>(from, own + r * PIPE_ROW, last, 0.0f, x[r]);
            take4<reverse>(from + tile_len, own + r * PIPE_ROW, last, 1.0f, c[r]);
            take4<reverse>(from + 2 * tile_len, own + r * PIPE_ROW, last, 0.0f, y[r]);
        }

        /* 2. The coefficients of a group move on by one; the last one is multiplied to what the group hands on. Then as
           in ahead.cu. */
        struct pair before[rows], whole_warp;
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float left_over = c[r][3];
            c[r][3] = c[r][2], c[r][2] = c[r][1], c[r][1] = c[r][0], c[r][0] = 1.0f;
#pragma unroll
            for (int i = 1; i < 4; i++) {
                x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
                c[r][i] = c[r][i - 1] * c[r][i];
            }
            const struct pair mine = {c[r][3] * left_over, x[r][3] * left_over};
            const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
            before[r] = lane_before(up_to_here, lane);
            if (r > 0)
                before[r] = pair_join(whole_warp, before[r]);
            whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
        }

        /* 3. The warps of the block, and the carry. */
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        __syncthreads();
        if (threadIdx.x == 0) /* everybody has taken the tile: its stage is free for another one */
            tile_send<reverse>(d_outputs, coeffs, outputs, base + (size_t)num_stages * tile_len, seq_len, tile_len,
                               stages + stage * 3 * tile_len, &arrived[stage], hint);
        if (++stage == num_stages)
            stage = 0, parity ^= 1;
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added: x is d_inputs now. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            if (base > 0 || threadIdx.x > 0 || r > 0) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[r][i] = into * c[r][i] + x[r][i];
            }

            /* 5. And d_coeffs, with the outputs one element further on. The one that is missing is the next lane's
               first, or for lane 31 the first of the next row. */
            const float next_row = r + 1 < rows ? y[r + 1][0] : y_behind;
            const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[r][0], (lane + 1) % 32);
            const int at = own + r * PIPE_ROW,
                      very_last = base + last == seq_len ? last - 1 : -1; /* its d_coeffs is 0 */
#pragma unroll
            for (int i = 0; i < 4; i++)
                y[r][i] = at + i == very_last ? 0.0f : (i < 3 ? y[r][i + 1] : y_next) * x[r][i];
            if (at < last) {
                put4<reverse>(d_inputs, base + at, x[r]);
                put4<reverse>(d_coeffs, base + at, y[r]);
            }
        }
    }
}

extern "C" cudaError_t backward_bulk_last(const struct linrec_args *args, cudaStream_t stream)
{
    const struct linrec_config config = pipe_config(args, 4, args->seq_len < 16384 ? 256 : 512, 2);
    cudaError_t error = backward_check(args, true, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len % 4 != 0)
        return cudaErrorInvalidValue;
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(size_t, int, const float *, const float *, const float *, float *, float *) =
        args->reverse ? (config.rows == 1   ? bulk_last_backward<1, 0>
                         : config.rows == 2 ? bulk_last_backward<2, 0>
                                            : bulk_last_backward<4, 0>)
                      : (config.rows == 1   ? bulk_last_backward<1, 1>
                         : config.rows == 2 ? bulk_last_backward<2, 1>
                                            : bulk_last_backward<4, 1>);
    const size_t shared = (size_t)config.stages * 3 * config.threads * config.rows * sizeof(float4);
    if ((error = pipe_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess)
        return error;
    kernel<<<(unsigned)args->num_seqs, config.threads, shared, stream>>>(
        args->seq_len, config.stages, args->d_outputs, args->coeffs, args->outputs, args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}
