/* SPDX-License-Identifier: MIT */
/* layer_stretches.cu - few heads for a whole GPU. layer_chunk.cu has a block for each head of each sequence; with few
   of them most of the chip is idle. Here time is cut into stretches (layer_cut.h), and each stretch of each head has a
   block. What a stretch needs of all steps before it is one state, so there are three kernels:

       sums       what each stretch adds to a state of 0, and by how much a state decays in it       all at once
       join       the state behind each stretch: H[i] = decay[i] H[i - 1] + sum[i]                   one after the other
       outputs    layer_chunk.cu, each stretch from the state that the one before it has left        all at once

       stretch        0            1            2            3                    sum[3] is not needed: `outputs` goes
       sums        sum[0]       sum[1]       sum[2]                               through the last stretch to its end
       join     H0 -----> H[0] -----> H[1] -----> H[2]         in place of the sums, in the workspace
       outputs    from H0    from H[0]    from H[1]    from H[2]

   `sums` is only the fourth of layer_chunk.cu's products. It needs no C, and no times in shared memory: a lane has the
   weights of two steps, s[u] P[63] / P[u], and lanes that need them get them by a shuffle. */
/* The simulator builds it quickly: states and scores in registers, in unrolled loops, each for two types and widths. */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "chunk_times.cuh"
#include "fragments.cuh"
#include "layer_check.h"
#include "layer_kernels.h"
#include "stretch.cuh"

enum {
    CHUNK = LAYER_CHUNK,
    ROWS = LAYER_ROWS,
    THREADS = 128,
    X_ROW = ROWS * 2, /* bytes of a step in shared memory */
    JOIN_THREADS = 128,
    AHEAD = 4 /* states that a thread of `join` loads before it needs them */
};

/* Asks for the chunk that begins `at` steps behind the stretch's first one: its x and its B. */
template <int dk_room>
static __device__ __forceinline__ void copy_chunk(char *stage, const struct layer_args *args,
                                                  const struct stretch *stretch, size_t head, size_t row, size_t at)
{
    const size_t t = stretch->first + at, group = head / (args->heads / args->groups);
    const char *const x = (const char *)args->x + ((t * args->heads + head) * args->dv + row) * 2;
    const char *const B = (const char *)args->B + (t * args->groups + group) * args->dk * 2;
    copy_tile<X_ROW, CHUNK * X_ROW, THREADS>(stage, x, args->heads * args->dv, CHUNK, left_of(args->dv, row));
    copy_tile<dk_room * 2, CHUNK * dk_room * 2, THREADS>(stage + CHUNK * X_ROW, B, args->groups * args->dk, CHUNK,
                                                         args->dk);
}

/* dk_room, slices: as in layer_chunk.cu. A stretch that is not its sequence's last one has whole chunks alone. */
template <int dtype, int dk_room>
static __global__ void __launch_bounds__(THREADS, 2)
    layer_stretches_sums(struct layer_args args, struct layer_cut cut, unsigned slices)
{
    constexpr int DK_ROW = dk_room * 2, STAGE = CHUNK * X_ROW + CHUNK * DK_ROW;
    extern __shared__ __align__(128) char memory[]; /* two stages */
    const size_t both = blockIdx.x / slices, head = both % args.heads, row = blockIdx.x % slices * ROWS;
    const struct stretch stretch = stretch_of(&args, &cut, both / args.heads);
    if (stretch.ends || stretch.steps == 0)
        return;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j2 = lane % 4 * 2;
    const struct pace pace = pace_of(&args, head);
    float H[dk_room / 8][4] = {}, total = 1.0f, dt[2];

    load_steps<dtype>(&args, &stretch, head, 0, dt);
    copy_chunk<dk_room>(memory, &args, &stretch, head, row, 0);
    __pipeline_commit();
    struct two_times two = times_of(&stretch, &pace, 0, dt);
    for (size_t at = 0; at < stretch.steps; at += CHUNK) {
        const char *const x = memory + at / CHUNK % 2 * STAGE, *const B = x + CHUNK * X_ROW;
        __pipeline_wait_prior(0);
        __syncthreads(); /* the chunk is there, and nobody reads the one before it any more */
        if (at + CHUNK < stretch.steps) {
            copy_chunk<dk_room>(memory + (at / CHUNK + 1) % 2 * STAGE, &args, &stretch, head, row, at + CHUNK);
            load_steps<dtype>(&args, &stretch, head, at + CHUNK, dt);
        }
        __pipeline_commit();

        /* [weights] What is left of this lane's two steps at the chunk's end; decay: what is left of a state. */
        const float end = __shfl_sync(0xFFFFFFFF, two.log_p[1], 31), decay = fast_exp2(end);
        const float weight0 = two.s[0] * fast_exp2(end - two.log_p[0]);
        const float weight1 = two.s[1] * fast_exp2(end - two.log_p[1]);
#pragma unroll
        for (unsigned v = 0; v < dk_room / 2; v++)
            H[v / 4][v % 4] *= decay;
        total *= decay;

        /* [sum] The chunk's 64 steps, 16 at a time. */
#pragma unroll
        for (unsigned u = 0; u < CHUNK / 16; u++) {
            unsigned left[4], right[4];
            ldmatrix4_transposed(left, x + place_of(u * 16 + lane / 16 * 8 + lane % 8, warp * 2 + lane / 8 % 2, X_ROW));
#pragma unroll
            for (unsigned half = 0; half < 2; half++) { /* eight steps, of which a lane has x of two neighbours */
                const unsigned whose = u * 8 + half * 4 + lane % 4;
                const float w0 = __shfl_sync(0xFFFFFFFF, weight0, whose), w1 = __shfl_sync(0xFFFFFFFF, weight1, whose);
#pragma unroll
                for (unsigned v = half * 2; v < half * 2 + 2; v++) {
                    const float2 in = unpack<dtype>(left[v]);
                    left[v] = pack<dtype>(in.x * w0, in.y * w1);
                }
            }
#pragma unroll
            for (unsigned i = 0; i < dk_room / 16; i++) {
                ldmatrix4_transposed(right, B + place_of(u * 16 + lane % 16, i * 2 + lane / 16, DK_ROW));
                multiply_add<dtype>(H[i * 2], left, right);
                multiply_add<dtype>(H[i * 2 + 1], left, right + 2);
            }
        }

        /* [next] The times of the next chunk, whose dt was asked for above. */
        two = times_of(&stretch, &pace, at + CHUNK, dt);
    }

    /* [leave] H[.][0], H[.][1] are two neighbours of a row, H[.][2], H[.][3] of the eighth row behind it. */
    if (row == 0 && threadIdx.x == 0)
        cut.decays[both] = total;
#pragma unroll
    for (unsigned i = 0; i < dk_room / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const size_t r = row + warp * 16 + l + half * 8, n = i * 8 + j2;
            if (r < args.dv && n < args.dk)
                *(float2 *)(cut.states + (both * args.dv + r) * args.dk + n) =
                    make_float2(H[i][half * 2], H[i][half * 2 + 1]);
        }
}

/* A thread has four neighbours of a head's state, and takes them from stretch to stretch. Each head of each sequence
   has `blocks` blocks. */
static __global__ void __launch_bounds__(JOIN_THREADS)
    layer_stretches_join(struct layer_args args, struct layer_cut cut, unsigned blocks)
{
    const size_t both = blockIdx.x / blocks, seq = both / args.heads, head = both % args.heads;
    const size_t numbers = args.dv * args.dk, at = ((size_t)(blockIdx.x % blocks) * JOIN_THREADS + threadIdx.x) * 4;
    const size_t first = first_stretch(&args, &cut, seq), steps = whole_sequence(&args, seq).steps;
    const size_t last = steps != 0 ? first + (steps - 1) / cut.len : first;
    if (at >= numbers)
        return;
    float4 h = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (args.initial_state != NULL)
        h = *(const float4 *)(args.initial_state + both * numbers + at);

    /* [walk] All stretches but the last one. The sums of the next few are asked for together. */
    for (size_t i = first; i < last; i += AHEAD) {
        float4 sum[AHEAD];
        float decay[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + k < last) {
                sum[k] = *(const float4 *)(cut.states + ((i + k) * args.heads + head) * numbers + at);
                decay[k] = cut.decays[(i + k) * args.heads + head];
            }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + k < last) {
                h.x = decay[k] * h.x + sum[k].x, h.y = decay[k] * h.y + sum[k].y;
                h.z = decay[k] * h.z + sum[k].z, h.w = decay[k] * h.w + sum[k].w;
                *(float4 *)(cut.states + ((i + k) * args.heads + head) * numbers + at) = h;
            }
    }
}

extern "C" cudaError_t layer_join(const struct layer_args *args, struct layer_cut cut, cudaStream_t stream)
{
    const size_t quads = (args->dv * args->dk / 4 + JOIN_THREADS - 1) / JOIN_THREADS;
    const size_t heads = layer_num_seqs(args) * args->heads;
    if (quads > 0x7FFFFFFF / heads)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of((unsigned)(heads * quads), JOIN_THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, layer_stretches_join, *args, cut, (unsigned)quads);
}

extern "C" cudaError_t layer_stretches(const struct layer_args *args, cudaStream_t stream)
{
    bool done;
    cudaError_t error = layer_begin(args, layer_cut_workspace(args), stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const struct layer_cut cut = layer_cut(args);
    const size_t slices = (args->dv + ROWS - 1) / ROWS, each = layer_blocks_of_sequence(args);
    if (args->dtype == FLOAT32 || args->dk % 8 != 0 || args->dv % 8 != 0 || args->dk > 128 ||
        each > 0x7FFFFFFF / cut.count)
        return cudaErrorInvalidValue;
    if (cut.len >= args->seq_len) /* there is nothing to join */
        return layer_outputs(args, cut, stream);
    const int dk_room = args->dk <= 64 ? 64 : 128;
    const size_t shared = 2 * (CHUNK * X_ROW + CHUNK * dk_room * 2);
    void (*const sums)(struct layer_args, struct layer_cut, unsigned) =
        args->dtype == BF16 ? (dk_room == 64 ? layer_stretches_sums<BF16, 64> : layer_stretches_sums<BF16, 128>)
                            : (dk_room == 64 ? layer_stretches_sums<FP16, 64> : layer_stretches_sums<FP16, 128>);
    error = gpu_allow_shared((const void *)sums, shared, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t sum = launch_of((unsigned)(cut.count * each), THREADS, shared, stream);
    error = cudaLaunchKernelEx(&sum, sums, *args, cut, (unsigned)slices);
    if (error == cudaSuccess)
        error = layer_join(args, cut, stream);
    return error == cudaSuccess ? layer_outputs(args, cut, stream) : error;
}
