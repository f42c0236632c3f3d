/* SPDX-License-Identifier: MIT */
/* layer_chunk.cu - the dual form: of 64 steps, a chunk, nearly everything is a product of matrices, and tensor cores
   multiply these (product_mma.cu). A block goes through the chunks of one head, or of 64 rows of its state. With P the
   decays from the chunk's begin on, P[t] = exp(A (s[0] + ... + s[t])), a chunk is four products:

       scores    S = C B^T,   S[t][u] *= s[u] P[t] / P[u] where u <= t, and is 0 elsewhere       64 x 64
       old       y[t] = P[t] C[t] H^T            what earlier chunks have left                   64 x rows
       own       y += S x                        what the chunk itself adds                      64 x rows
       state     H = P[63] H + x'^T B            x'[u] = x[u] s[u] P[63] / P[u]                  rows x dk

   The four warps share the scores by steps, all else by rows of the state:

       scores  +-------------+        y   rows ->                  H   dk ->
               | w 0         |        +-----+-----+-----+-----+    +-----------------+
               | w 1 w 1     |     t  |     |     |     |     |    | w 0, 16 rows    |  in registers, in float32,
               | w 2 w 2 w 2 |     |  | w 0 | w 1 | w 2 | w 3 |    | w 1             |  as mma.sync leaves a result;
               | w 3 ... w 3 |     v  |     |     |     |     |    | w 2             |  packed it is the right-hand
               +-------------+        +-----+-----+-----+-----+    | w 3             |  matrix of `old` where it is
                through shared memory                              +-----------------+

   The next chunk's x, B and C come by cp.async meanwhile. dk and dv are multiples of 8, dk is at most 128.

   A block's steps are one whole sequence, or a stretch of it that begins with what the one before has left: that is how
   layer_stretches.cu launches this kernel. */
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
    X_ROW = ROWS * 2,      /* bytes of a step in shared memory */
    SCORES_ROW = CHUNK * 2 /* and of a row of scores */
};

/* What a chunk's steps do to the state: how long each lasts, and log2 of P. */
struct times {
    float s[CHUNK], log_p[CHUNK];
};

/* A warp leaves its lanes' times for all others. */
static __device__ __forceinline__ void store_times(struct times *times, struct two_times two)
{
    const unsigned lane = threadIdx.x % 32;
    times->s[lane * 2] = two.s[0], times->s[lane * 2 + 1] = two.s[1];
    times->log_p[lane * 2] = two.log_p[0], times->log_p[lane * 2 + 1] = two.log_p[1];
}

/* Asks for the chunk that begins `at` steps behind the stretch's first one: its x, and B and C as rows of dk_room
   elements. */
template <int dk_room>
static __device__ __forceinline__ void copy_chunk(char *stage, const struct layer_args *args,
                                                  const struct stretch *stretch, size_t head, size_t row, size_t at)
{
    const size_t t = stretch->first + at, left = left_of(stretch->steps, at);
    const size_t group = head / (args->heads / args->groups), B_at = (t * args->groups + group) * args->dk;
    const char *const x = (const char *)args->x + ((t * args->heads + head) * args->dv + row) * 2;
    constexpr int bytes = CHUNK * dk_room * 2;
    copy_tile<X_ROW, CHUNK * X_ROW, THREADS>(stage, x, args->heads * args->dv, left, left_of(args->dv, row));
    stage += CHUNK * X_ROW;
    copy_tile<dk_room * 2, bytes, THREADS>(stage, (const char *)args->B + B_at * 2, args->groups * args->dk, left,
                                           args->dk);
    copy_tile<dk_room * 2, bytes, THREADS>(stage + bytes, (const char *)args->C + B_at * 2, args->groups * args->dk,
                                           left, args->dk);
}

/* dk_room: 64 or 128, columns of a state; those past dk are zeros. slices: of 64 rows. */
template <int dtype, int dk_room>
static __global__ void __launch_bounds__(THREADS, 2)
    layer_chunk_kernel(struct layer_args args, struct layer_cut cut, unsigned slices)
{
    constexpr int DK_ROW = dk_room * 2, B_AT = CHUNK * X_ROW, C_AT = B_AT + CHUNK * DK_ROW,
                  STAGE = C_AT + CHUNK * DK_ROW;
    extern __shared__ __align__(128) char memory[]; /* two stages, and the scores */
    __shared__ struct times all_times[2];
    char *const scores = memory + 2 * STAGE;
    const size_t both = blockIdx.x / slices, head = both % args.heads, row = blockIdx.x % slices * ROWS;
    const struct stretch stretch = stretch_of(&args, &cut, both / args.heads);
    const size_t state_at = (stretch.seq * args.heads + head) * args.dv * args.dk,
                 chunks = (stretch.steps + CHUNK - 1) / CHUNK;
    if (!stretch.begins && stretch.steps == 0)
        return;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j2 = lane % 4 * 2;
    const struct pace pace = pace_of(&args, head);
    const float D = args.D != NULL ? args.D[head] : 0.0f;
    const size_t own =
        row + warp * 16 + l; /* H[.][0], H[.][1] are of this row, H[.][2], H[.][3] of the eighth behind it */

    /* A sequence begins with its initial state, a later stretch with what the one before it has left. */
    const float *const in = !stretch.begins              ? cut.states + (both - args.heads) * args.dv * args.dk
                            : args.initial_state != NULL ? args.initial_state + state_at
                                                         : NULL;
    float H[dk_room / 8][4];
#pragma unroll
    for (unsigned i = 0; i < dk_room / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const size_t r = own + half * 8, n = i * 8 + j2;
            const bool is_there = in != NULL && r < args.dv && n < args.dk;
            const float2 two = is_there ? *(const float2 *)(in + r * args.dk + n) : make_float2(0.0f, 0.0f);
            H[i][half * 2] = two.x, H[i][half * 2 + 1] = two.y;
        }

    float dt[2]; /* of the next chunk; warp 0 has little to do with scores, and prepares its times */
    load_steps<dtype>(&args, &stretch, head, 0, dt);
    if (warp == 0)
        store_times(&all_times[0], times_of(&stretch, &pace, 0, dt));
    copy_chunk<dk_room>(memory, &args, &stretch, head, row, 0);
    __pipeline_commit();
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const char *const x = memory + chunk % 2 * STAGE, *const B = x + B_AT, *const C = x + C_AT;
        const struct times *const times = &all_times[chunk % 2];
        __pipeline_wait_prior(0);
        __syncthreads(); /* the chunk is there, and nobody reads the one before it any more */
        if (chunk + 1 < chunks) {
            copy_chunk<dk_room>(memory + (chunk + 1) % 2 * STAGE, &args, &stretch, head, row, (chunk + 1) * CHUNK);
            if (warp == 0)
                load_steps<dtype>(&args, &stretch, head, (chunk + 1) * CHUNK, dt);
        }
        __pipeline_commit();

        /* [scores] This warp's 16 steps t, and 16 steps u at a time, up to the diagonal. */
        float score[CHUNK / 8][4] = {};
#pragma unroll
        for (unsigned k = 0; k < dk_room / 16; k++) {
            unsigned left[4], right[4];
            ldmatrix4(left, C + place_of(warp * 16 + lane % 16, k * 2 + lane / 16, DK_ROW));
#pragma unroll
            for (unsigned u = 0; u < CHUNK / 16; u++)
                if (u <= warp) {
                    ldmatrix4(right, B + place_of(u * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2, DK_ROW));
                    multiply_add<dtype>(score[u * 2], left, right);
                    multiply_add<dtype>(score[u * 2 + 1], left, right + 2);
                }
        }
#pragma unroll
        for (unsigned i = 0; i < CHUNK / 8; i++)
#pragma unroll
            for (unsigned half = 0; half < 2; half++) {
                const unsigned t = warp * 16 + l + half * 8, u = i * 8 + j2;
                float two[2];
                if (i / 2 > warp)
                    break; /* nobody reads these */
#pragma unroll
                for (unsigned v = 0; v < 2; v++)
                    two[v] = u + v <= t ? score[i][half * 2 + v] * times->s[u + v] *
                                              fast_exp2(times->log_p[t] - times->log_p[u + v])
                                        : 0.0f;
                *(unsigned *)(scores + place_of(t, i, SCORES_ROW) + j2 * 2) = pack<dtype>(two[0], two[1]);
            }
        if (warp == 0)
            store_times(&all_times[(chunk + 1) % 2], times_of(&stretch, &pace, (chunk + 1) * CHUNK, dt));

        /* [old] All steps of the chunk, this warp's 16 rows. */
        float y[CHUNK / 16][2][4] = {};
#pragma unroll
        for (unsigned k = 0; k < dk_room / 16; k++) {
            unsigned left[4], right[4];
#pragma unroll
            for (unsigned v = 0; v < 4; v++) /* rows 0 ... 7: 16 columns, then rows 8 ... 15 */
                right[v] = pack<dtype>(H[k * 2 + v % 2][v / 2 * 2], H[k * 2 + v % 2][v / 2 * 2 + 1]);
#pragma unroll
            for (unsigned t = 0; t < CHUNK / 16; t++) {
                ldmatrix4(left, C + place_of(t * 16 + lane % 16, k * 2 + lane / 16, DK_ROW));
                multiply_add<dtype>(y[t][0], left, right);
                multiply_add<dtype>(y[t][1], left, right + 2);
            }
        }
#pragma unroll
        for (unsigned v = 0; v < CHUNK / 16 * 8; v++)
            y[v / 8][v / 4 % 2][v % 4] *= fast_exp2(times->log_p[v / 8 * 16 + l + v % 4 / 2 * 8]);
        __syncthreads(); /* the scores are there */

        /* [own] 16 steps u at a time, all t from there on. */
#pragma unroll
        for (unsigned u = 0; u < CHUNK / 16; u++) {
            unsigned left[4], right[4];
            ldmatrix4_transposed(right, x + place_of(u * 16 + lane % 16, warp * 2 + lane / 16, X_ROW));
#pragma unroll
            for (unsigned t = u; t < CHUNK / 16; t++) {
                ldmatrix4(left, scores + place_of(t * 16 + lane % 16, u * 2 + lane / 16, SCORES_ROW));
                multiply_add<dtype>(y[t][0], left, right);
                multiply_add<dtype>(y[t][1], left, right + 2);
            }
        }

        /* [state] It fades, and takes in the chunk, 16 steps u at a time. */
        const float end = times->log_p[CHUNK - 1], decay = fast_exp2(end);
#pragma unroll
        for (unsigned v = 0; v < dk_room / 2; v++)
            H[v / 4][v % 4] *= decay;
#pragma unroll
        for (unsigned u = 0; u < CHUNK / 16; u++) {
            unsigned left[4], right[4];
            ldmatrix4_transposed(left, x + place_of(u * 16 + lane / 16 * 8 + lane % 8, warp * 2 + lane / 8 % 2, X_ROW));
#pragma unroll
            for (unsigned half = 0; half < 2; half++) { /* eight steps */
                const unsigned at = u * 16 + half * 8 + j2;
                const float w0 = times->s[at] * fast_exp2(end - times->log_p[at]);
                const float w1 = times->s[at + 1] * fast_exp2(end - times->log_p[at + 1]);
#pragma unroll
                for (unsigned v = half * 2; v < half * 2 + 2; v++) {
                    const float2 two = unpack<dtype>(left[v]);
                    left[v] = pack<dtype>(two.x * w0, two.y * w1);
                }
            }
#pragma unroll
            for (unsigned i = 0; i < dk_room / 16; i++) {
                ldmatrix4_transposed(right, B + place_of(u * 16 + lane % 16, i * 2 + lane / 16, DK_ROW));
                multiply_add<dtype>(H[i * 2], left, right);
                multiply_add<dtype>(H[i * 2 + 1], left, right + 2);
            }
        }

        /* [store] A lane has two neighbouring rows of a step, and two more eight rows further, of every eighth step. */
        const size_t left = left_of(stretch.steps, chunk * CHUNK + l);
        size_t at = ((stretch.first + chunk * CHUNK + l) * args.heads + head) * args.dv + row + warp * 16 + j2;
#pragma unroll
        for (unsigned i = 0; i < CHUNK / 8; i++) {
#pragma unroll
            for (unsigned part = 0; part < 2; part++) {
                const unsigned column = warp * 16 + part * 8; /* a piece of x's row begins there */
                const float *const two = y[i / 2][part] + i % 2 * 2;
                const float2 in =
                    unpack<dtype>(*(const unsigned *)(x + place_of(i * 8 + l, column / 8, X_ROW) + j2 * 2));
                float first = two[0] + D * in.x, second = two[1] + D * in.y;
                if (i * 8 < left && row + column < args.dv) {
                    if (args.z != NULL) {
                        const float2 z = unpack<dtype>(*(const unsigned *)((const char *)args.z + (at + part * 8) * 2));
                        first *= silu(z.x), second *= silu(z.y);
                    }
                    *(unsigned *)((char *)args.out + (at + part * 8) * 2) = pack<dtype>(first, second);
                }
            }
            at += 8 * args.heads * args.dv;
        }
    }
#pragma unroll
    for (unsigned i = 0; i < dk_room / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const size_t r = own + half * 8, n = i * 8 + j2;
            if (args.final_state != NULL && stretch.ends && r < args.dv && n < args.dk)
                *(float2 *)(args.final_state + state_at + r * args.dk + n) =
                    make_float2(H[i][half * 2], H[i][half * 2 + 1]);
        }
}

extern "C" cudaError_t layer_outputs(const struct layer_args *args, struct layer_cut cut, cudaStream_t stream)
{
    const size_t slices = (args->dv + ROWS - 1) / ROWS, each = layer_blocks_of_sequence(args);
    if (args->dtype == FLOAT32 || args->dk % 8 != 0 || args->dv % 8 != 0 || args->dk > 128 ||
        each > 0x7FFFFFFF / cut.count)
        return cudaErrorInvalidValue;
    const int dk_room = args->dk <= 64 ? 64 : 128;
    const size_t shared = 2 * (CHUNK * X_ROW + 2 * CHUNK * dk_room * 2) + CHUNK * SCORES_ROW;
    void (*const kernel)(struct layer_args, struct layer_cut, unsigned) =
        args->dtype == BF16 ? (dk_room == 64 ? layer_chunk_kernel<BF16, 64> : layer_chunk_kernel<BF16, 128>)
                            : (dk_room == 64 ? layer_chunk_kernel<FP16, 64> : layer_chunk_kernel<FP16, 128>);
    const cudaError_t error = gpu_allow_shared((const void *)kernel, shared, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)(cut.count * each), THREADS, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, cut, (unsigned)slices);
}

extern "C" cudaError_t layer_chunk(const struct layer_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = layer_begin(args, 0, stream, &done);
    return error != cudaSuccess || done ? error : layer_outputs(args, layer_uncut(args), stream);
}
