/* SPDX-License-Identifier: MIT */
/* layer_wgmma.cu - layer_chunk.cu on sm_90: the same four products of a chunk, by wgmma (wgmma.h). It reads its
   right-hand matrix from shared memory, where the TMA brings it (tensor_map.h). A block has two heads of a group, so
   that B, C and their product are loaded and computed once for both, and four warpgroups with different tasks:

       ask       asks the TMA for the tiles of chunks ahead, and computes      one warp for each head; the others end
                 the times of their steps
       scores    S = C B^T once; then for each head S[t][u] s[u] P[t] / P[u] where u <= t, else 0
       state 0   old    y^T = H C^T, columns times P[t]        what earlier chunks have left
       state 1   own    y^T += x^T S^T                         what the chunk itself adds
                 state  H = P[63] H + x'^T B                   x'[u] = x[u] s[u] P[63] / P[u]
                 store  y, transposed on its way through shared memory

   H, dv x dk, stays in registers in float32, as wgmma leaves a result. Rounded to 16 bits, two in a word, it is a
   left-hand matrix where it is. In H C^T it stands on the left; that is why outputs are computed transposed.

   Warpgroups hand work on by mbarriers, and each runs ahead of the next one as far as there is room:

       full[stage]          a chunk's x, B, C and times are there             ask     --->  scores, state
       empty[stage]         all who read them are done                        ask     <---  scores, state
       ready[head][i]       the scores of a chunk are there                   scores  --->  state
       taken[head][i]       and have been multiplied                          scores  <---  state

   There are two to four stages, which chunks take in turn, and two tiles of scores for each head: i is chunk % 2.
   All lanes of a warp wait, and one of them arrives for all, after a __syncwarp that puts what the others have read and
   written before it. Between ordinary accesses and those of wgmma or the TMA that follow there is a fence, too
   (fence_proxy_async): of those who have written scores or outputs, and of the lane that asks for a stage again.

   In shared memory a tile has 64 rows, one for each step, of 64 elements, 128 bytes; B and C of 128 columns are two
   tiles.

   Few heads: time is cut into stretches as in layer_stretches.cu, whose kernel `join` it takes. In place of `sums` this
   kernel runs with nothing but its fourth product.

   dk is 64 or 128, dv a multiple of 64, and sequences are not packed. A block has one head where a group has an odd
   number of them, and where one head a block is what fills the chip: two would leave half of it idle. */
/* The simulator builds it quickly: states and scores in registers, in unrolled loops, for two types and all tasks. */
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
    GROUP = 128,       /* threads of a warpgroup */
    TILE = 64 * 64 * 2 /* bytes */
};

/* What a launch computes. */
enum goal {
    SUMS,    /* what a stretch adds to a state of 0, and by how much a state decays in it */
    OUTPUTS, /* out, from the state that the stretch before this one has left */
    GATED    /* the same times silu(z) */
};

/* The arrays, loaded and stored in boxes of 64 x 64. A row of a map has all heads, or all groups, of a step. */
struct maps {
    CUtensorMap x, z, B, C, out;
};

/* What a chunk's steps do to a head's state: how long each lasts, log2 of P, P, and s[u] P[63] / P[u]. The last two are
   for scores. A warp has 16 rows of these, from t = 16 w on. In front of its rows, u < 16 w, a score is multiplied by

       s[u] P[t] / P[u]  =  P[t] / P[16 w - 1]  *  s[u] P[16 w - 1] / P[u]  =  in_rows[t] to_rows[w - 1][u]

   without an exponential of its own. Neither decay is above 1, so the product underflows only where it is that small.
   Elsewhere, in_rows of the first 16 steps and to_rows from 16 w on, they may be above 1 or infinite: no score that is
   kept is multiplied by these. */
struct times {
    float s[CHUNK], log_p[CHUNK], p[CHUNK], to_end[CHUNK], in_rows[CHUNK], to_rows[3][CHUNK];
};

/* A block's shared memory: where each part begins, in bytes. A stage has a chunk's B, C, and each head's x and z.
   Scores and outputs of a head have two tiles, which chunks take in turn. */
template <int dk, int heads, enum goal goal>
struct room {
    static const int WIDTH = dk / 64; /* tiles of B, or of C */
    static const int B = 0;
    static const int C = WIDTH * TILE;
    static const int X = C + (goal == SUMS ? 0 : WIDTH * TILE); /* sums need no C */
    static const int Z = X + heads * TILE;
    static const int STAGE = Z + (goal == GATED ? heads * TILE : 0);
    static const int STAGES = (dk == 64 || goal == SUMS ? 4 : 3) - (goal == GATED);
    static const int SCORES = STAGES * STAGE, OUT = SCORES + heads * 2 * TILE, TIMES = OUT + heads * 2 * TILE;
    static const int BYTES = TIMES + STAGES * heads * (int)sizeof(struct times);
};

/* Where a tile has the 16 bytes number `piece` of row `row`. */
static __device__ __forceinline__ char *piece_of(char *tile, unsigned row, unsigned piece)
{
    return tile + wgmma_place(row, piece * 16);
}

/* H16: H as wgmma's left-hand matrix, in 16 bits, 16 columns at a time. Then H decays, as the chunk's end wants it. */
template <int dtype, int dk, enum goal goal>
static __device__ __forceinline__ void pack_and_fade(unsigned H16[dk / 16][4], float H[dk / 8][4], float decay)
{
#pragma unroll
    for (unsigned v = 0; v < dk / 4; v++) {
        float *const two = &H[v / 4 * 2 + v / 2 % 2][v % 2 * 2];
        if (goal != SUMS)
            H16[v / 4][v % 4] = pack<dtype>(two[0], two[1]);
        two[0] *= decay, two[1] *= decay;
    }
}

/* The row that this lane names when its warp loads or stores four matrices of 8 x 8 transposed (ldmatrix.h): of the 16
   steps from `step` on the 16 elements that belong to the warp's rows of the state. */
static __device__ __forceinline__ char *row_of_lane(char *tile, unsigned step)
{
    const unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    return piece_of(tile, step + lane / 16 * 8 + lane % 8, warp * 2 + lane / 8 % 2);
}

/* x'^T as wgmma's left-hand matrix, 16 steps at a time: x times s[u] P[63] / P[u], which the state takes in. */
template <int dtype>
static __device__ __forceinline__ void weigh(unsigned weighed[CHUNK / 16][4], char *x, const struct times *times)
{
#pragma unroll
    for (unsigned k = 0; k < CHUNK / 16; k++) {
        ldmatrix4_transposed(weighed[k], row_of_lane(x, k * 16));
#pragma unroll
        for (unsigned v = 0; v < 4; v++) {
            const float2 weight = *(const float2 *)&times->to_end[k * 16 + v / 2 * 8 + threadIdx.x % 4 * 2];
            const float2 two = unpack<dtype>(weighed[k][v]);
            weighed[k][v] = pack<dtype>(two.x * weight.x, two.y * weight.y);
        }
    }
}

/* Stores a head's outputs of a chunk, y^T as pairs of 16 bits, through the tile `out`, where rows are steps again. All
   threads of the warpgroup call it. */
static __device__ __forceinline__ void store_chunk(const CUtensorMap *map, int column, int step, int seq, char *out,
                                                   const unsigned outputs[CHUNK / 16][4])
{
#pragma unroll
    for (unsigned k = 0; k < CHUNK / 16; k++)
        stmatrix4_transposed(row_of_lane(out, k * 16), outputs[k]);
    fence_proxy_async();
    if (threadIdx.x % GROUP == 0)
        tma_store_wait_read(); /* of the chunk before, whose tile the next chunk's stmatrix overwrites */
    named_barrier_sync(2 + (int)(threadIdx.x / GROUP), GROUP);
    if (threadIdx.x % GROUP == 0) {
        tma_store_box(map, column, step, seq, out);
        tma_store_commit();
    }
}

template <int dtype, int dk, int heads, enum goal goal>
static __global__ void __launch_bounds__((heads + 2) * GROUP, 1)
    layer_wgmma_kernel(const __grid_constant__ struct maps maps, struct layer_args args, struct layer_cut cut,
                       unsigned slices)
{
    using room = struct room<dk, heads, goal>;
    constexpr int STAGES = room::STAGES;
    constexpr bool is_fp16 = dtype == FP16;
    constexpr unsigned SCORES = heads, ASK = heads + 1; /* numbers of warpgroups; the first ones are the heads' */
    extern __shared__ __align__(1024) char memory[];
    __shared__ uint64_t full[STAGES], empty[STAGES], ready[heads][2], taken[heads][2];
    struct times(*const all_times)[heads] = (struct times(*)[heads])(memory + room::TIMES); /* of each stage */
    const unsigned pairs = (unsigned)(args.heads / heads), row = blockIdx.x % slices * ROWS;
    const unsigned first_head = blockIdx.x / slices % pairs * heads;
    const struct stretch stretch = stretch_of(&args, &cut, blockIdx.x / slices / pairs);
    const int chunks = (int)((stretch.steps + CHUNK - 1) / CHUNK);
    const int begin = (int)(stretch.first - stretch.seq * args.seq_len), seq = (int)stretch.seq;
    if (goal == SUMS && stretch.ends)
        return;
    /* l, j2: a lane's row in a fragment, and the first of its two columns. warp: in its group; by a shuffle, so that
       the compiler knows that all lanes have the same. */
    const unsigned group = threadIdx.x / GROUP, lane = threadIdx.x % 32, l = lane / 4, j2 = lane % 4 * 2;
    const unsigned warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32 % 4, 0);

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&full[i], 1 + heads);
            mbarrier_init(&empty[i], (goal == SUMS ? heads : heads + 1) * 4);
        }
        for (int i = 0; i < heads * 2; i++) {
            mbarrier_init(&ready[i / 2][i % 2], 4);
            mbarrier_init(&taken[i / 2][i % 2], 4);
        }
        mbarrier_init_done();
    }
    __syncthreads();

    /* [ask] A warp for each head computes its times. Lane 0 of the first one asks the TMA for both. */
    if (group == ASK) {
        lower_registers<32>();
        if (warp >= heads)
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
                fence_proxy_async(); /* the tiles were read before their stage is filled again */
                mbarrier_expect(&full[stage], room::STAGE);
                for (int i = 0; i < room::WIDTH; i++) {
                    if (goal != SUMS)
                        tma_load_box(tiles + room::C + i * TILE, &maps.C, B_at + i * 64, t, seq, &full[stage]);
                    tma_load_box(tiles + room::B + i * TILE, &maps.B, B_at + i * 64, t, seq, &full[stage]);
                }
                for (int i = 0; i < heads; i++) {
                    const int at = (int)((head + i) * args.dv + row);
                    tma_load_box(tiles + room::X + i * TILE, &maps.x, at, t, seq, &full[stage]);
                    if (goal == GATED)
                        tma_load_box(tiles + room::Z + i * TILE, &maps.z, at, t, seq, &full[stage]);
                }
            }
            const struct two_times two = times_of(&stretch, &pace, (size_t)chunk * CHUNK, dt);
            load_steps<dtype>(&args, &stretch, head, (size_t)(chunk + 1) * CHUNK, dt);
            struct times *const times = &all_times[stage][warp];
            const float before_rows = __shfl_sync(0xFFFFFFFF, two.log_p[1], (lane - lane % 8 - 1) % 32);
#pragma unroll
            for (unsigned i = 0; i < 2; i++) {
                const unsigned u = lane * 2 + i;
                times->s[u] = two.s[i], times->log_p[u] = two.log_p[i], times->p[u] = fast_exp2(two.log_p[i]);
                times->in_rows[u] = fast_exp2(two.log_p[i] - before_rows);
            }
#pragma unroll
            for (unsigned w = 1; w <= 4; w++) { /* up to row 16 w - 1, which for w = 4 is the chunk's end */
                const float log_p = __shfl_sync(0xFFFFFFFF, two.log_p[1], w * 8 - 1);
                float *const to = w < 4 ? times->to_rows[w - 1] : times->to_end;
#pragma unroll
                for (unsigned i = 0; i < 2; i++)
                    to[lane * 2 + i] = two.s[i] * fast_exp2(log_p - two.log_p[i]);
            }
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&full[stage]);
        }
        return;
    }

    /* [scores] A warp has 16 steps t, and for them all u up to the diagonal. What is behind it is 0 from the start, and
       is never written again. */
    if (group == SCORES) {
        lower_registers<96>();
        for (unsigned i = threadIdx.x % GROUP; goal != SUMS && i < heads * 2 * TILE / 16; i += GROUP)
            ((float4 *)(memory + room::SCORES))[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        named_barrier_sync(1, GROUP);
        for (int chunk = 0; goal != SUMS && chunk < chunks; chunk++) {
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
            for (int head = 0; head < heads; head++) {
                const struct times *const times = &all_times[stage][head];
                char *const to = memory + room::SCORES + (head * 2 + turn) * TILE;
                /* all loads stand before the first store, which the compiler must take for one to their addresses */
                const float *const to_rows = times->to_rows[warp > 0 ? warp - 1 : 0];
                const float in_rows[2] = {times->in_rows[warp * 16 + l], times->in_rows[warp * 16 + 8 + l]};
                unsigned packed[CHUNK / 8][2];
#pragma unroll
                for (unsigned i = 0; i < CHUNK / 8; i++) {
                    const float2 from_u = *(const float2 *)&to_rows[i * 8 + j2];
#pragma unroll
                    for (unsigned half = 0; half < 2; half++)
                        packed[i][half] = pack<dtype>(score[i][half * 2] * in_rows[half] * from_u.x,
                                                      score[i][half * 2 + 1] * in_rows[half] * from_u.y);
                }
#pragma unroll
                for (unsigned v = 0; v < 4; v++) { /* again the 16 x 16 on the diagonal: two tiles, two rows of each */
                    const unsigned tile = v / 2, half = v % 2, u = tile * 8 + j2, t = half * 8 + l;
                    const float2 s = *(const float2 *)&times->s[warp * 16 + u];
                    const float2 log_u = *(const float2 *)&times->log_p[warp * 16 + u];
                    const float log_t = times->log_p[warp * 16 + t];
                    float two[2] = {};
#pragma unroll
                    for (unsigned w = 0; w < 4; w++) /* registers cannot be indexed by a variable */
                        if (w == warp)
                            two[0] = score[w * 2 + tile][half * 2], two[1] = score[w * 2 + tile][half * 2 + 1];
                    const unsigned both = pack<dtype>(u <= t ? two[0] * (s.x * fast_exp2(log_t - log_u.x)) : 0.0f,
                                                      u < t ? two[1] * (s.y * fast_exp2(log_t - log_u.y)) : 0.0f);
#pragma unroll
                    for (unsigned w = 0; w < 4; w++)
                        packed[w * 2 + tile][half] = w == warp ? both : packed[w * 2 + tile][half];
                }
                if (chunk >= 2)
                    mbarrier_wait(&taken[head][turn], (chunk / 2 - 1) % 2);
#pragma unroll
                for (unsigned i = 0; i < CHUNK / 8; i++)
#pragma unroll
                    for (unsigned half = 0; half < 2; half++)
                        if (i / 2 <= warp)
                            *(unsigned *)(piece_of(to, warp * 16 + l + half * 8, i) + j2 * 2) = packed[i][half];
                fence_proxy_async();
                __syncwarp();
                if (lane == 0)
                    mbarrier_arrive(&ready[head][turn]);
            }
            if (lane == 0)
                mbarrier_arrive(&empty[stage]); /* for all lanes: none has read the times since the last __syncwarp */
        }
        return;
    }

    /* [begin] Of the state a lane has H[.][0], H[.][1] in one row, and H[.][2], H[.][3] eight rows further down. A
       sequence begins with its initial state, a later stretch with what the one before it has left, a sum with 0. */
    raise_registers<192>();
    const unsigned head = first_head + group;
    const size_t size = args.dv * dk,
                 mine = (row + warp * 16 + l) * dk + j2; /* numbers of a state; this lane's first */
    const size_t of_seq = (stretch.seq * args.heads + head) * size + mine,
                 of_stretch = (stretch.number * args.heads + head) * size + mine;
    const float *const state_in = goal == SUMS                 ? NULL
                                  : !stretch.begins            ? cut.states + of_stretch - args.heads * size
                                  : args.initial_state != NULL ? args.initial_state + of_seq
                                                               : NULL;
    float *const state_out = goal == SUMS                               ? cut.states + of_stretch
                             : args.final_state != NULL && stretch.ends ? args.final_state + of_seq
                                                                        : NULL;
    float *const decay_out = cut.decays + stretch.number * args.heads + head;
    const float D = args.D != NULL ? args.D[head] : 0.0f;
    const int column = (int)(head * args.dv + row); /* of x and out */
    float H[dk / 8][4], total = 1.0f;
#pragma unroll
    for (unsigned i = 0; i < dk / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const float2 two =
                state_in != NULL ? *(const float2 *)(state_in + half * 8 * dk + i * 8) : make_float2(0.0f, 0.0f);
            H[i][half * 2] = two.x, H[i][half * 2 + 1] = two.y;
        }

    /* The left-hand matrices of a chunk's first two products, H16 and weighed, are made while the last product of the
       chunk before is on its way; here those of the first chunk. */
    unsigned H16[dk / 16][4], weighed[CHUNK / 16][4], outputs[CHUNK / 16][4];
    mbarrier_wait(&full[0], 0);
    pack_and_fade<dtype, dk, goal>(H16, H, all_times[0][group].p[CHUNK - 1]);
    total *= all_times[0][group].p[CHUNK - 1];
    weigh<dtype>(weighed, memory + room::X + group * TILE, &all_times[0][group]);
    for (int chunk = 0; chunk < chunks; chunk++) {
        const int stage = chunk % STAGES, turn = chunk % 2;
        char *const tiles = memory + stage * room::STAGE, *const out = memory + room::OUT + group * 2 * TILE;
        const struct times *const times = &all_times[stage][group];
        const wgmma_matrix B = wgmma_matrix_of(tiles + room::B), C = wgmma_matrix_of(tiles + room::C);
        float y[CHUNK / 8][4];

        /* [first] `old` and `state`, two groups of products that need no scores. Nobody waits for them yet. */
        wgmma_begin();
        if (goal != SUMS) {
#pragma unroll
            for (unsigned k = 0; k < dk / 16; k++)
                wgmma_multiply<64, false, is_fp16>(y, H16[k], wgmma_matrix_at(C, k / 4 * TILE + k % 4 * 32), k != 0);
            wgmma_commit();
        }
#pragma unroll
        for (unsigned k = 0; k < CHUNK / 16; k++)
            wgmma_multiply<dk, true, is_fp16>(H, weighed[k], wgmma_matrix_at(B, k * 2048), true);
        wgmma_commit();

        /* [store] Meanwhile the outputs of the chunk before are stored. */
        if (goal != SUMS && chunk > 0)
            store_chunk(&maps.out, column, begin + (chunk - 1) * CHUNK, seq, out + (turn ^ 1) * TILE, outputs);

        /* [own] wgmma_wait<1>: `old` is done, `state` may still be on its way. */
        if (goal != SUMS) {
            const wgmma_matrix scores = wgmma_matrix_of(memory + room::SCORES + (group * 2 + turn) * TILE);
            unsigned input[CHUNK / 16][4];
#pragma unroll
            for (unsigned k = 0; k < CHUNK / 16; k++)
                ldmatrix4_transposed(input[k], row_of_lane(tiles + room::X + group * TILE, k * 16));
            wgmma_wait<1>();
            wgmma_done<64>(y);
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
            mbarrier_wait(&ready[group][turn], chunk / 2 % 2);
            wgmma_begin();
#pragma unroll
            for (unsigned k = 0; k < CHUNK / 16; k++)
                wgmma_multiply<64, false, is_fp16>(y, input[k], wgmma_matrix_at(scores, k * 32), true);
            wgmma_commit();
            wgmma_wait<1>();
        } else
            wgmma_wait<0>();
        wgmma_done<dk>(H);

        /* [next] `state` is done, `own` may still be on its way. The next chunk's left-hand matrices. */
        if (chunk + 1 < chunks) {
            const int next = (chunk + 1) % STAGES;
            const struct times *const next_times = &all_times[next][group];
            mbarrier_wait(&full[next], (chunk + 1) / STAGES % 2);
            pack_and_fade<dtype, dk, goal>(H16, H, next_times->p[CHUNK - 1]);
            total *= next_times->p[CHUNK - 1];
            weigh<dtype>(weighed, memory + next * room::STAGE + room::X + group * TILE, next_times);
        }

        /* [pack] The outputs, as pairs of 16 bits, to be stored behind the next chunk's first products. */
        if (goal != SUMS) {
            wgmma_wait<0>();
            wgmma_done<64>(y);
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&taken[group][turn]);
#pragma unroll
            for (unsigned k = 0; k < CHUNK / 16; k++) {
                if (goal == GATED)
                    ldmatrix4_transposed(outputs[k], row_of_lane(tiles + room::Z + group * TILE, k * 16));
#pragma unroll
                for (unsigned v = 0; v < 4; v++) {
                    float *const two = &y[k * 2 + v / 2][v % 2 * 2];
                    if (goal == GATED) {
                        const float2 z = unpack<dtype>(outputs[k][v]);
                        two[0] *= silu(z.x), two[1] *= silu(z.y);
                    }
                    outputs[k][v] = pack<dtype>(two[0], two[1]);
                }
            }
        }
        __syncwarp();
        if (lane == 0)
            mbarrier_arrive(&empty[stage]);
    }
    if (goal != SUMS)
        store_chunk(&maps.out, column, begin + (chunks - 1) * CHUNK, seq,
                    memory + room::OUT + (group * 2 + (chunks - 1) % 2) * TILE, outputs);
    if (goal != SUMS && threadIdx.x % GROUP == 0)
        tma_store_wait_read();

    /* [leave] */
    if (goal == SUMS && row == 0 && threadIdx.x % GROUP == 0)
        *decay_out = total;
#pragma unroll
    for (unsigned i = 0; i < dk / 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++)
            if (state_out != NULL)
                *(float2 *)(state_out + half * 8 * dk + i * 8) = make_float2(H[i][half * 2], H[i][half * 2 + 1]);
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

/* One kernel of the pass. */
template <int dtype, int dk, int heads, enum goal goal>
static cudaError_t start(const struct maps *maps, const struct layer_args *args, struct layer_cut cut,
                         cudaStream_t stream)
{
    const size_t slices = args->dv / ROWS, blocks = cut.count * (args->heads / heads) * slices;
    const auto kernel = layer_wgmma_kernel<dtype, dk, heads, goal>;
    const cudaError_t error = gpu_allow_shared((const void *)kernel, room<dk, heads, goal>::BYTES, 90);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch =
        launch_of((unsigned)blocks, (heads + 2) * GROUP, room<dk, heads, goal>::BYTES, stream);
    return cudaLaunchKernelEx(&launch, kernel, *maps, *args, cut, (unsigned)slices);
}

template <int dtype, int dk, int heads>
static cudaError_t start_all(const struct maps *maps, const struct layer_args *args, struct layer_cut cut,
                             cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (cut.len < args->seq_len) {
        error = start<dtype, dk, heads, SUMS>(maps, args, cut, stream);
        if (error == cudaSuccess)
            error = layer_join(args, cut, stream);
    }
    if (error != cudaSuccess)
        return error;
    return (args->z != NULL ? start<dtype, dk, heads, GATED> : start<dtype, dk, heads, OUTPUTS>)(maps, args, cut,
                                                                                                 stream);
}

bool layer_wgmma_takes(const struct layer_args *args)
{
    const size_t most = INT_MAX; /* a box's coordinates are int, and so is the number of blocks */
    const size_t each = layer_blocks_of_sequence(args);
    return args->dtype != FLOAT32 && args->starts == NULL && (args->dk == 64 || args->dk == 128) &&
           args->dv % ROWS == 0 && args->seq_len < most - CHUNK && args->batch < most && each != 0 &&
           args->heads * args->dv < most && args->groups * args->dk < most && layer_cut(args).count < most / each;
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

    /* Two heads a block, unless one fills a multiprocessor each without a cut, which two would leave half empty. */
    const size_t blocks = args->batch * layer_blocks_of_sequence(args);
    const bool uncut = blocks <= LAYER_BLOCKS / 2 && blocks > LAYER_BLOCKS / 4 && args->config.rows == 0;
    const bool alone = uncut || args->heads / args->groups % 2 != 0;
    static const decltype(&start_all<BF16, 64, 1>) starts[2][2][2] = {
        {{start_all<BF16, 64, 1>, start_all<BF16, 64, 2>}, {start_all<BF16, 128, 1>, start_all<BF16, 128, 2>}},
        {{start_all<FP16, 64, 1>, start_all<FP16, 64, 2>}, {start_all<FP16, 128, 1>, start_all<FP16, 128, 2>}}};
    return starts[args->dtype == FP16][args->dk == 128][!alone](&maps, args,
                                                                uncut ? layer_uncut(args) : layer_cut(args), stream);
}
