/* SPDX-License-Identifier: MIT */
/* layer_wgmma.cu - layer_chunk.cu on sm_90: the same four products of a chunk, by wgmma (wgmma.h), which reads its
   right-hand matrix out of shared memory, where the TMA brings it (tensor_map.h). A block has two heads of a group, so
   that B, C and their product are loaded and computed once for both, and four warpgroups with different tasks:

       ask       the TMA for the tiles of the chunks ahead; and prepares their times         two warps, one for each head
       scores    S = C B^T, then for each head S[t][u] *= s[u] P[t] / P[u] where u <= t, else 0
       state 0   old    y^T = H C^T, columns times P[t]        with H, dv x dk, in registers, in float32:
       state 1   own    y^T += x^T S^T                         packed it is wgmma's left-hand matrix as it is
                 state  H = P[63] H + x'^T B
                 store  y, turned round on its way through shared memory

   They hand work on by mbarriers, and none waits for another that has not got behind:

       full[stage]          x, B, C and the times of a chunk are there        ask     --->  scores, state
       empty[stage]         nobody needs them any more                        ask     <---  scores, state
       ready[head][i]       the scores of every second chunk are there        scores  --->  state
       taken[head][i]       and have been multiplied                          scores  <---  state

   In shared memory a tile has 64 rows, steps, of 64 elements, 128 bytes; B and C of 128 columns are two tiles.

   Few heads: time is cut into stretches as in layer_stretches.cu, whose `join` it takes. `sums` is this kernel, too, of
   which nothing is left but the fourth product.

   dk is 64 or 128, dv a multiple of 64, a group has an even number of heads, and sequences are not packed. */
#include <limits.h>

#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/named_barrier.h"
#include "../../common/cuda/setmaxnreg.h"
#include "../../common/cuda/tensor_map.h"
#include "../../common/cuda/tma.h"
#include "../../common/cuda/wgmma.h"
#include "chunk_times.cuh"
#include "fragments.cuh"
#include "layer_check.h"
#include "layer_kernels.h"
#include "stretch.cuh"

enum {
    CHUNK = LAYER_CHUNK,
    ROWS = LAYER_ROWS,
    HEADS = 2,
    GROUP = 128,    /* threads of a warpgroup */
    SCORES = HEADS, /* the number of that warpgroup; the first ones are the heads' */
    ASK = HEADS + 1,
    THREADS = (HEADS + 2) * GROUP,
    TILE = 64 * 64 * 2 /* bytes */
};

/* What is computed. */
enum task {
    SUMS,    /* what a stretch adds to a state of 0, and how a state fades in it */
    OUTPUTS, /* out, from the state that the stretch before this one has left */
    GATED    /* the same times silu(z) */
};

/* As boxes of 64 x 64: of each step all heads or groups are one row. */
struct maps {
    CUtensorMap x, z, B, C, out;
};

/* What a chunk's steps do to a head's state: how long each lasts, log2 of P, P, and s[u] P[63] / P[u]. */
struct times {
    float s[CHUNK], log_p[CHUNK], p[CHUNK], to_end[CHUNK];
};

/* A block's shared memory: where what begins, in bytes. A stage is what comes of a chunk: B, C, and each head's x and
   z. Scores and outputs of a head have two tiles in turn. */
template <int dk, enum task task>
struct room {
    static const int WIDTH = dk / 64; /* tiles of B, or of C */
    static const int B = 0, C = WIDTH *TILE, X = (task == SUMS ? 1 : 2) * WIDTH *TILE, Z = X + HEADS *TILE;
    static const int STAGE = task == GATED ? Z + HEADS * TILE : Z;
    static const int STAGES = (dk == 64 || task == SUMS ? 4 : 3) - (task == GATED);
    static const int SCORES = STAGES * STAGE, OUT = SCORES + HEADS * 2 * TILE, TIMES = OUT + HEADS * 2 * TILE;
    static const int BYTES = TIMES + STAGES * HEADS * (int)sizeof(struct times);
};

/* Where row `row` of a tile has the 16 bytes number `piece`. */
static __device__ __forceinline__ char *piece_of(char *tile, unsigned row, unsigned piece)
{
    return tile + wgmma_place(row, piece * 16);
}

template <int dtype, int dk, enum task task>
static __global__ void __launch_bounds__(THREADS, 1)
    layer_wgmma_kernel(const __grid_constant__ struct maps maps, struct layer_args args, struct layer_cut cut,
                       unsigned slices)
{
    using room = struct room<dk, task>;
    constexpr int STAGES = room::STAGES;
    constexpr bool is_fp16 = dtype == FP16;
    extern __shared__ __align__(1024) char memory[];
    __shared__ uint64_t full[STAGES], empty[STAGES], ready[HEADS][2], taken[HEADS][2];
    struct times(*const all_times)[HEADS] = (struct times(*)[HEADS])(memory + room::TIMES); /* of each stage */
    const unsigned pairs = (unsigned)(args.heads / HEADS), row = blockIdx.x % slices * ROWS;
    const unsigned first_head = blockIdx.x / slices % pairs * HEADS;
    const struct stretch stretch = stretch_of(&args, &cut, blockIdx.x / slices / pairs);
    const int chunks = (int)((stretch.steps + CHUNK - 1) / CHUNK);
    const int begin = (int)(stretch.first - stretch.seq * args.seq_len), seq = (int)stretch.seq;
    if (task == SUMS ? stretch.ends || chunks == 0 : !stretch.begins && chunks == 0)
        return;
    const unsigned group = threadIdx.x / GROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const unsigned l = lane / 4, j2 = lane % 4 * 2;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&full[i], 1 + HEADS);
            mbarrier_init(&empty[i], (task == SUMS ? HEADS : HEADS + 1) * 4);
        }
        for (int i = 0; i < HEADS * 2; i++) {
            mbarrier_init(&ready[i / 2][i % 2], 4);
            mbarrier_init(&taken[i / 2][i % 2], 4);
        }
        mbarrier_init_done();
    }
    __syncthreads();

    /* [ask] A warp for each head; the first one asks. */
    if (group == ASK) {
        lower_registers<32>();
        if (warp >= HEADS)
            return;
        const size_t head = first_head + warp;
        const struct pace pace = pace_of(&args, head);
        const int B_at = (int)(head / (args.heads / args.groups) * dk);
        float dt[2];
        load_steps<dtype>(&args, &stretch, head, 0, dt);
        for (int chunk = 0; chunk < chunks; chunk++) {
            const int stage = chunk % STAGES, round = chunk / STAGES, t = begin + chunk * CHUNK;
            char *const tiles = memory + stage * room::STAGE;
            if (round > 0)
                mbarrier_wait(&empty[stage], (round - 1) % 2);
            if (warp == 0 && lane == 0) {
                mbarrier_expect(&full[stage], room::STAGE);
                for (int i = 0; i < room::WIDTH; i++) {
                    if (task != SUMS)
                        tma_load_box(tiles + room::C + i * TILE, &maps.C, B_at + i * 64, t, seq, &full[stage]);
                    tma_load_box(tiles + room::B + i * TILE, &maps.B, B_at + i * 64, t, seq, &full[stage]);
                }
                for (int i = 0; i < HEADS; i++) {
                    const int at = (int)((head + i) * args.dv + row);
                    tma_load_box(tiles + room::X + i * TILE, &maps.x, at, t, seq, &full[stage]);
                    if (task == GATED)
                        tma_load_box(tiles + room::Z + i * TILE, &maps.z, at, t, seq, &full[stage]);
                }
            }
            const struct two_times two = times_of(&stretch, &pace, (size_t)chunk * CHUNK, dt);
            load_steps<dtype>(&args, &stretch, head, (size_t)(chunk + 1) * CHUNK, dt);
            const float end = __shfl_sync(0xFFFFFFFF, two.log_p[1], 31);
            struct times *const times = &all_times[stage][warp];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                times->s[lane * 2 + i] = two.s[i];
                times->log_p[lane * 2 + i] = two.log_p[i];
                times->p[lane * 2 + i] = fast_exp2(two.log_p[i]);
                times->to_end[lane * 2 + i] = two.s[i] * fast_exp2(end - two.log_p[i]);
            }
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&full[stage]);
        }
        return;
    }

    /* [scores] A warp has 16 steps t, and of them all u up to the diagonal; behind it zeros stay. */
    if (group == SCORES) {
        lower_registers<80>();
        for (unsigned i = threadIdx.x % GROUP; task != SUMS && i < HEADS * 2 * TILE / 16; i += GROUP)
            ((float4 *)(memory + room::SCORES))[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        named_barrier_sync(1, GROUP);
        for (int chunk = 0; task != SUMS && chunk < chunks; chunk++) {
            const int stage = chunk % STAGES, turn = chunk % 2;
            char *const tiles = memory + stage * room::STAGE;
            const wgmma_matrix B = wgmma_matrix_of(tiles + room::B), C = wgmma_matrix_of(tiles + room::C);
            float score[CHUNK / 8][4];
            mbarrier_wait(&full[stage], chunk / STAGES % 2);
            wgmma_begin();
#pragma unroll
            for (unsigned k = 0; k < dk / 16; k++)
                wgmma_multiply_shared<64, is_fp16>(score, wgmma_matrix_at(C, k / 4 * TILE + k % 4 * 32),
                                                   wgmma_matrix_at(B, k / 4 * TILE + k % 4 * 32), k != 0);
            wgmma_commit();
            wgmma_wait<0>();
#pragma unroll 1
            for (int head = 0; head < HEADS; head++) {
                const struct times *const times = &all_times[stage][head];
                char *const to = memory + room::SCORES + (head * 2 + turn) * TILE;
                if (chunk >= 2)
                    mbarrier_wait(&taken[head][turn], (chunk / 2 - 1) % 2);
#pragma unroll
                for (unsigned half = 0; half < 2; half++) {
                    const unsigned t = warp * 16 + l + half * 8;
                    const float log_p = times->log_p[t];
#pragma unroll
                    for (unsigned i = 0; i < CHUNK / 8; i++) {
                        const unsigned u = i * 8 + j2;
                        if (i / 2 > warp)
                            break;
                        float two[2];
#pragma unroll
                        for (unsigned v = 0; v < 2; v++)
                            two[v] = u + v <= t ? score[i][half * 2 + v] * times->s[u + v] *
                                                      fast_exp2(log_p - times->log_p[u + v])
                                                : 0.0f;
                        *(unsigned *)(piece_of(to, t, i) + j2 * 2) = pack<dtype>(two[0], two[1]);
                    }
                }
                fence_proxy_async();
                __syncwarp();
                if (lane == 0)
                    mbarrier_arrive(&ready[head][turn]);
            }
            if (lane == 0)
                mbarrier_arrive(&empty[stage]); /* all lanes have read the times, too: __syncwarp */
        }
        return;
    }

    /* [state] A lane has H[.][0], H[.][1] of a row, and H[.][2], H[.][3] of the eighth row behind it. A sequence begins
       with its initial state, a later stretch with what the one before it has left, and a sum with 0. */
    raise_registers<200>();
    const unsigned head = first_head + group;
    const size_t size = args.dv * dk,
                 mine = (row + warp * 16 + l) * dk + j2; /* numbers of a state; this lane's first */
    const size_t of_seq = (stretch.seq * args.heads + head) * size + mine,
                 of_stretch = (stretch.number * args.heads + head) * size + mine;
    const float *const in = task == SUMS                 ? NULL
                            : !stretch.begins            ? cut.states + of_stretch - args.heads * size
                            : args.initial_state != NULL ? args.initial_state + of_seq
                                                         : NULL;
    float *const left = task == SUMS                               ? cut.states + of_stretch
                        : args.final_state != NULL && stretch.ends ? args.final_state + of_seq
                                                                   : NULL;
    float *const faded = cut.decays + stretch.number * args.heads + head;
    const float D = args.D != NULL ? args.D[head] : 0.0f;
    const int column = (int)(head * args.dv + row); /* of x and out */
    float H[dk / 8][4], total = 1.0f;
#pragma unroll
    for (unsigned i = 0; i < dk / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const float2 two = in != NULL ? *(const float2 *)(in + half * 8 * dk + i * 8) : make_float2(0.0f, 0.0f);
            H[i][half * 2] = two.x, H[i][half * 2 + 1] = two.y;
        }
    for (int chunk = 0; chunk < chunks; chunk++) {
        const int stage = chunk % STAGES, turn = chunk % 2;
        char *const tiles = memory + stage * room::STAGE, *const x = tiles + room::X + group * TILE;
        const wgmma_matrix B = wgmma_matrix_of(tiles + room::B), C = wgmma_matrix_of(tiles + room::C);
        const struct times *const times = &all_times[stage][group];
        const unsigned piece = warp * 2 + lane / 8 % 2, step = lane / 16 * 8 + lane % 8; /* of ldmatrix, transposed */
        mbarrier_wait(&full[stage], chunk / STAGES % 2);

        /* [old] H packed is the left-hand matrix; then it fades. */
        float y[CHUNK / 8][4];
        unsigned before[dk / 16][4], input[CHUNK / 16][4], weighed[CHUNK / 16][4];
        const float decay = times->p[CHUNK - 1];
        total *= decay;
#pragma unroll
        for (unsigned v = 0; v < dk / 4; v++) {
            float *const two = &H[v / 4 * 2 + v / 2 % 2][v % 2 * 2];
            if (task != SUMS)
                before[v / 4][v % 4] = pack<dtype>(two[0], two[1]);
            two[0] *= decay, two[1] *= decay;
        }
        if (task != SUMS) {
            wgmma_begin();
#pragma unroll
            for (unsigned k = 0; k < dk / 16; k++)
                wgmma_multiply<64, false, is_fp16>(y, before[k], wgmma_matrix_at(C, k / 4 * TILE + k % 4 * 32), k != 0);
            wgmma_commit();
        }

        /* [state] x^T, 16 steps at a time, and what is left of it at the chunk's end. */
#pragma unroll
        for (unsigned k = 0; k < CHUNK / 16; k++) {
            ldmatrix4_transposed(input[k], piece_of(x, k * 16 + step, piece));
#pragma unroll
            for (unsigned v = 0; v < 4; v++) {
                const float2 weight = *(const float2 *)&times->to_end[k * 16 + v / 2 * 8 + j2];
                const float2 two = unpack<dtype>(input[k][v]);
                weighed[k][v] = pack<dtype>(two.x * weight.x, two.y * weight.y);
            }
        }
        wgmma_begin();
#pragma unroll
        for (unsigned k = 0; k < CHUNK / 16; k++)
            wgmma_multiply<dk, true, is_fp16>(H, weighed[k], wgmma_matrix_at(B, k * 2048), true);
        wgmma_commit();
        if (task != SUMS) {
            wgmma_wait<1>();
#pragma unroll
            for (unsigned i = 0; i < CHUNK / 8; i++) {
                const float2 p = *(const float2 *)&times->p[i * 8 + j2];
#pragma unroll
                for (unsigned half = 0; half < 2; half++) {
                    const float2 two = unpack<dtype>(input[i / 2][i % 2 * 2 + half]);
                    y[i][half * 2] = y[i][half * 2] * p.x + D * two.x;
                    y[i][half * 2 + 1] = y[i][half * 2 + 1] * p.y + D * two.y;
                }
            }

            /* [own] */
            const wgmma_matrix scores = wgmma_matrix_of(memory + room::SCORES + (group * 2 + turn) * TILE);
            mbarrier_wait(&ready[group][turn], chunk / 2 % 2);
            wgmma_begin();
#pragma unroll
            for (unsigned k = 0; k < CHUNK / 16; k++)
                wgmma_multiply<64, false, is_fp16>(y, input[k], wgmma_matrix_at(scores, k * 32), true);
            wgmma_commit();
        }
        wgmma_wait<0>();
        __syncwarp();
        if (task != SUMS && lane == 0)
            mbarrier_arrive(&taken[group][turn]);

        /* [store] Through shared memory, where its rows are steps again. */
        char *const out = memory + room::OUT + (group * 2 + turn) * TILE;
        if (task != SUMS) {
#pragma unroll
            for (unsigned k = 0; k < CHUNK / 16; k++) {
                unsigned packed[4];
                if (task == GATED)
                    ldmatrix4_transposed(packed, piece_of(tiles + room::Z + group * TILE, k * 16 + step, piece));
#pragma unroll
                for (unsigned v = 0; v < 4; v++) {
                    float *const two = &y[k * 2 + v / 2][v % 2 * 2];
                    if (task == GATED) {
                        const float2 z = unpack<dtype>(packed[v]);
                        two[0] *= silu(z.x), two[1] *= silu(z.y);
                    }
                    packed[v] = pack<dtype>(two[0], two[1]);
                }
                stmatrix4_transposed(piece_of(out, k * 16 + step, piece), packed);
            }
            fence_proxy_async();
            if (threadIdx.x % GROUP == 0)
                tma_store_wait_read(); /* the chunk before: its tile is free for the next one */
            named_barrier_sync(2 + (int)group, GROUP);
            if (threadIdx.x % GROUP == 0) {
                tma_store_box(&maps.out, column, begin + chunk * CHUNK, seq, out);
                tma_store_commit();
            }
        }
        __syncwarp();
        if (lane == 0)
            mbarrier_arrive(&empty[stage]);
    }
    if (task != SUMS && threadIdx.x % GROUP == 0)
        tma_store_wait_read();

    /* [leave] */
    if (task == SUMS && row == 0 && threadIdx.x % GROUP == 0)
        *faded = total;
#pragma unroll
    for (unsigned i = 0; i < dk / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++)
            if (left != NULL)
                *(float2 *)(left + half * 8 * dk + i * 8) = make_float2(H[i][half * 2], H[i][half * 2 + 1]);
}

/* Whether this kernel was compiled with wgmma's instructions. Without them it would trap (arch.h). */
#ifdef LINREC_SM_90A
static const bool has_wgmma = true;
#else
static const bool has_wgmma = false;
#endif

/* A tensor map of (batch, seq_len, width), moved in boxes of 64 x 64. What is NULL has none. */
static cudaError_t map_of(CUtensorMap *map, const struct layer_args *args, const void *array, size_t width)
{
    const size_t sizes[3] = {width, args->seq_len, args->batch}, strides[2] = {width * 2, args->seq_len * width * 2};
    const unsigned box[3] = {64, CHUNK, 1};
    if (array == NULL)
        return cudaSuccess;
    return tensor_map_of(map, args->dtype == BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                         array, sizes, strides, box, true);
}

static cudaError_t maps_of(struct maps *maps, const struct layer_args *args)
{
    const size_t rows = args->heads * args->dv, columns = args->groups * args->dk;
    cudaError_t error = map_of(&maps->x, args, args->x, rows);
    if (error == cudaSuccess)
        error = map_of(&maps->z, args, args->z, rows);
    if (error == cudaSuccess)
        error = map_of(&maps->B, args, args->B, columns);
    if (error == cudaSuccess)
        error = map_of(&maps->C, args, args->C, columns);
    return error == cudaSuccess ? map_of(&maps->out, args, args->out, rows) : error;
}

template <int dtype, int dk, enum task task>
static cudaError_t start(const struct maps *maps, const struct layer_args *args, struct layer_cut cut,
                         cudaStream_t stream)
{
    const size_t slices = args->dv / ROWS, blocks = cut.count * (args->heads / HEADS) * slices;
    const auto kernel = layer_wgmma_kernel<dtype, dk, task>;
    const cudaError_t error = gpu_allow_shared((const void *)kernel, room<dk, task>::BYTES, 90);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, room<dk, task>::BYTES, stream);
    return cudaLaunchKernelEx(&launch, kernel, *maps, *args, cut, (unsigned)slices);
}

template <int dtype, int dk>
static cudaError_t start_all(const struct maps *maps, const struct layer_args *args, struct layer_cut cut,
                             cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (cut.len < args->seq_len) {
        error = start<dtype, dk, SUMS>(maps, args, cut, stream);
        if (error == cudaSuccess)
            error = layer_join(args, cut, stream);
    }
    if (error != cudaSuccess)
        return error;
    return (args->z != NULL ? start<dtype, dk, GATED> : start<dtype, dk, OUTPUTS>)(maps, args, cut, stream);
}

bool layer_wgmma_takes(const struct layer_args *args)
{
    const size_t most = INT_MAX; /* a box's coordinates are int, and so is the number of blocks */
    return args->dtype != FLOAT32 && args->starts == NULL && (args->dk == 64 || args->dk == 128) &&
           args->dv % ROWS == 0 && args->groups != 0 && args->heads / args->groups % HEADS == 0 &&
           args->seq_len < most - CHUNK && args->batch < most && args->heads * args->dv < most &&
           args->groups * args->dk < most && args->heads * (args->dv / ROWS) < most / layer_cut(args).count;
}

extern "C" cudaError_t layer_wgmma(const struct layer_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    struct maps maps = {};
    bool done;
    cudaError_t error = layer_begin(args, layer_cut_workspace(args), stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if (!layer_wgmma_takes(args))
        return cudaErrorInvalidValue;
    error = gpu_info_read(&gpu);
    if (error == cudaSuccess && (!has_wgmma || gpu.chip_arch < 90 || gpu.chip_arch >= 100))
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        error = maps_of(&maps, args);
    if (error != cudaSuccess)
        return error;
    const struct layer_cut cut = layer_cut(args);
    return (args->dtype == BF16
                ? (args->dk == 64 ? start_all<BF16, 64> : start_all<BF16, 128>)
                : (args->dk == 64 ? start_all<FP16, 64> : start_all<FP16, 128>))(&maps, args, cut, stream);
}
