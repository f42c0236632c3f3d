/* SPDX-License-Identifier: MIT */
/* layer_chunk_backward.cu - the gradients in chunks of 64 steps, each sum of a chunk a product of matrices on tensor
   cores. Two kernels. The first walks forward, as layer_chunk.cu does, but needs no C: it writes the state H before
   each chunk to the workspace, in 16 bits. The second walks back, from the last chunk to the first, with the gradient G
   of the state behind the chunk in registers. With P[t] the decay from the chunk's begin through step t, s[i] how long
   step i lasts, L[t][i] = P[t] / P[i] where i <= t and 0 elsewhere, and E = P[63], a chunk is

       scores    T = C B^T,   V = d_y x^T                                                      64 x 64
                 S = T L,     dT = V L s[i],    Z = T V L s[i]      number by number
       d_C       P[t] d_y H + dT B                                                             64 x dk
       y         P[t] C H^T + (S s[i]) x        where there is a z, for d_z                    64 x rows
       d_B       s[i] E / P[i] x G + dT^T C                                                    64 x dk
       G B       E / P[i] B G^T + S^T d_y       of which d_x = s G B + D d_y                   64 x rows
       r[t]      sum of Z[j][i] over j >= t, i < t, as a product: the triangle of ones times Z
                 + the sum of d_y H C from t on, that of x G B before t, and E times all of G H
       G         E G + (P[t] d_y)^T C                                                          rows x dk

   A warp has 16 of the 64 steps, the rows of all of these but the last one, where it has 16 rows of the state:

            T, V, d_C, y      S^T, dT^T: d_B, G B     G, in float32, and 16 bits of it
         t  | w0          |   i  | w0 ........ |    row  | w0             |   in shared memory, since d_B and G B
            | w1 w1       |      |    w1 ..... |         | w1             |   need all of it
            | w2 w2 w2    |      |       w2 .. |         | w2             |
            | w3 w3 w3 w3 |      |          w3 |         | w3             |

   What of the scores another warp needs goes through shared memory. dk and dv are multiples of 8, dk is at most 128. */
/* The simulator builds it quickly: states and scores in registers, in unrolled loops, each for two types and widths. */
#include <cuda_runtime.h>

#include "../../09_selective_scan/kernels/activations.cuh"
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "fragments.cuh"
#include "layer_check.h"
#include "layer_kernels.h"
#include "layer_parts.h"
#include "stretch.cuh"

enum {
    CHUNK = 64,   /* steps */
    ROWS = 64,    /* of the state, in a block */
    COLUMNS = 64, /* of d_B and d_C, at once: a tile of 128 columns is two of 64, 128 bytes apart (fragments.cuh) */
    THREADS = 128,
    X_ROW = ROWS * 2,       /* bytes of a step's x or d_y in shared memory */
    SCORES_ROW = CHUNK * 2, /* and of a row of scores */
    BLOCKS16 = CHUNK / 16   /* 16 steps each; of rows there are as many */
};

/* The decays of a chunk's steps in a head: how long each lasts, log2 of P, P, and what is left of a step's input at the
   chunk's end, s E / P (joins) and E / P (to_end). */
struct times {
    float s[CHUNK], log_p[CHUNK], p[CHUNK], joins[CHUNK], to_end[CHUNK];
};

/* A chunk's sums over the block's rows, for each step; r without what comes through H and G. */
struct step_sums {
    float r[CHUNK], gb[CHUNK], d_D[CHUNK], dyHC[CHUNK], xGB[CHUNK], gh[THREADS / 32];
};

/* Where a block is: in a sequence, whose steps are those from `begin` on, and whose chunks have the numbers from
   `first` on among those of all sequences (stretch.cuh). */
struct place {
    size_t seq, begin, steps, head, group, row, part, chunks, first;
};

static __device__ __forceinline__ struct place place_of_block(const struct layer_args *args, unsigned slices)
{
    const size_t both = blockIdx.x / slices, part = blockIdx.x % slices, head = both % args->heads;
    const struct stretch sequence = whole_sequence(args, both / args->heads);
    const struct place place = {sequence.seq,
                                sequence.first,
                                sequence.steps,
                                head,
                                head / (args->heads / args->groups),
                                part * ROWS,
                                part,
                                (sequence.steps + CHUNK - 1) / CHUNK,
                                sequence.first / CHUNK + sequence.seq};
    return place;
}

/* Which of the states that are kept is this block's, before a chunk of its sequence. */
static __device__ __forceinline__ size_t state_at(const struct layer_args *args, unsigned slices,
                                                  const struct place *place, size_t chunk)
{
    return ((place->first + chunk) * args->heads + place->head) * slices + place->part;
}

/* The times of the chunk that begins at `step`, by warp 0: two steps a lane; past the end they last no time. */
template <int dtype>
static __device__ __forceinline__ void store_times(struct times *times, const struct layer_args *args,
                                                   const struct place *place, size_t step)
{
    const unsigned lane = threadIdx.x % 32;
    const float a = args->A[place->head] * LOG2_E, bias = args->dt_bias != NULL ? args->dt_bias[place->head] : 0.0f;
    float s[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const size_t t = step + lane * 2 + i, at = (place->begin + t) * args->heads + place->head;
        s[i] = t < place->steps ? step_of(read1<dtype>(args->dt, at) + bias, args->dt_softplus) : 0.0f;
    }
    float sum = s[0] + s[1]; /* of all lanes up to this one */
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xFFFFFFFF, sum, distance);
        sum += lane >= distance ? before : 0.0f;
    }
    const float end = __shfl_sync(0xFFFFFFFF, sum, 31) * a;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float log_p = (i == 0 ? sum - s[1] : sum) * a, to_end = fast_exp2(end - log_p);
        const unsigned t = lane * 2 + i;
        times->s[t] = s[i], times->log_p[t] = log_p, times->p[t] = fast_exp2(log_p);
        times->to_end[t] = to_end, times->joins[t] = s[i] * to_end;
    }
}

/* ---- tiles and products ---- */

/* Asks for a chunk of x, or of B or C as rows of dk_room elements. */
static __device__ __forceinline__ void copy_x(char *tile, const void *x, const struct layer_args *args,
                                              const struct place *place, size_t step)
{
    const size_t at = ((place->begin + step) * args->heads + place->head) * args->dv + place->row;
    copy_tile<X_ROW, CHUNK * X_ROW, THREADS>(tile, (const char *)x + at * 2, args->heads * args->dv,
                                             left_of(place->steps, step), left_of(args->dv, place->row));
}

template <int dk_room>
static __device__ __forceinline__ void copy_columns(char *tile, const void *B, const struct layer_args *args,
                                                    const struct place *place, size_t step)
{
    const size_t at = ((place->begin + step) * args->groups + place->group) * args->dk;
    copy_tile<dk_room * 2, CHUNK * dk_room * 2, THREADS>(tile, (const char *)B + at * 2, args->groups * args->dk,
                                                         left_of(place->steps, step), args->dk);
}

/* d_y of a chunk: d_out, times silu(z). Eight neighbours a thread. */
template <int dtype>
static __device__ __forceinline__ void store_d_y(char *tile, const struct layer_backward_args *args,
                                                 const struct place *place, size_t step)
{
    const struct layer_args *const layer = &args->layer;
    for (unsigned i = threadIdx.x; i < CHUNK * X_ROW / 16; i += THREADS) {
        const unsigned t = i / (X_ROW / 16), piece = i % (X_ROW / 16);
        const size_t at = ((place->begin + step + t) * layer->heads + place->head) * layer->dv + place->row + piece * 8;
        float d_y[8] = {}, z[8];
        if (step + t < place->steps && place->row + piece * 8 < layer->dv) {
            unpack16<dtype>(*(const uint4 *)((const char *)args->d_out + at * 2), d_y);
            if (layer->z != NULL) {
                unpack16<dtype>(*(const uint4 *)((const char *)layer->z + at * 2), z);
#pragma unroll
                for (int v = 0; v < 8; v++)
                    d_y[v] *= silu(z[v]);
            }
        }
        write16<dtype>(tile + place_of(t, piece, X_ROW), d_y);
    }
}

/* A left-hand matrix of 16 x 16: 16 rows of a tile, or 16 of its columns; k: which 16 terms of the sum. */
static __device__ __forceinline__ void load_left(unsigned left[4], const char *tile, unsigned rows, unsigned k,
                                                 unsigned row_bytes)
{
    ldmatrix4(left, tile + place_of(rows * 16 + threadIdx.x % 16, k * 2 + threadIdx.x % 32 / 16, row_bytes));
}

static __device__ __forceinline__ void load_left_columns(unsigned left[4], const char *tile, unsigned columns,
                                                         unsigned k, unsigned row_bytes)
{
    const unsigned lane = threadIdx.x % 32;
    ldmatrix4_transposed(left,
                         tile + place_of(k * 16 + lane / 16 * 8 + lane % 8, columns * 2 + lane / 8 % 2, row_bytes));
}

/* c += left times a tile's columns k. The tile's rows are the result's columns, 16 `most` of them. */
template <int dtype, int most>
static __device__ __forceinline__ void multiply_columns(float c[most * 2][4], const unsigned left[4], const char *tile,
                                                        unsigned k, unsigned row_bytes)
{
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned n = 0; n < most; n++) {
        unsigned right[4];
        ldmatrix4(right, tile + place_of(n * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2, row_bytes));
        multiply_add<dtype>(c[n * 2], left, right);
        multiply_add<dtype>(c[n * 2 + 1], left, right + 2);
    }
}

/* c += left times a tile's rows k. The tile's columns are the result's; of these the first 16 `count`. */
template <int dtype, int most>
static __device__ __forceinline__ void multiply_rows(float c[most * 2][4], const unsigned left[4], const char *tile,
                                                     unsigned k, unsigned row_bytes, unsigned count)
{
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned n = 0; n < most; n++)
        if (n < count) {
            unsigned right[4];
            ldmatrix4_transposed(right, tile + place_of(k * 16 + lane % 16, n * 2 + lane / 16, row_bytes));
            multiply_add<dtype>(c[n * 2], left, right);
            multiply_add<dtype>(c[n * 2 + 1], left, right + 2);
        }
}

/* The two numbers of a tile that stand where c[i][half * 2] and its neighbour do. */
template <int dtype>
static __device__ __forceinline__ float2 two_of(const char *tile, unsigned i, unsigned half, unsigned row_bytes)
{
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + half * 8;
    return unpack<dtype>(*(const unsigned *)(tile + place_of(row, i, row_bytes) + lane % 4 * 4));
}

/* Writes two numbers, as one word, to where c[i][half * 2] and its neighbour stand. */
static __device__ __forceinline__ void put_two(char *tile, unsigned i, unsigned half, unsigned row_bytes, unsigned word)
{
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + half * 8;
    *(unsigned *)(tile + place_of(row, i, row_bytes) + lane % 4 * 4) = word;
}

/* A sum over the four lanes that share a row of a result. */
static __device__ __forceinline__ float sum_of_row(float value)
{
    value += __shfl_xor_sync(0xFFFFFFFF, value, 1);
    return value + __shfl_xor_sync(0xFFFFFFFF, value, 2);
}

/* Writes to sums[.], or adds, the products of this warp's rows of c and of a tile. */
template <int dtype, int tiles>
static __device__ __forceinline__ void dot_rows(const float c[tiles][4], const char *tile, unsigned row_bytes,
                                                float *sums, bool adds)
{
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        float sum = 0.0f;
#pragma unroll
        for (unsigned i = 0; i < tiles; i++) {
            const float2 two = two_of<dtype>(tile, i, half, row_bytes);
            sum += c[i][half * 2] * two.x + c[i][half * 2 + 1] * two.y;
        }
        float *const to = sums + threadIdx.x / 32 * 16 + lane / 4 + half * 8;
        sum = sum_of_row(sum);
        if (lane % 4 == 0)
            *to = adds ? *to + sum : sum;
    }
}

/* Multiplies the rows of c by their steps' factors. */
template <int tiles>
static __device__ __forceinline__ void scale_rows(float c[tiles][4], const float *factors)
{
    const unsigned t = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (unsigned v = 0; v < tiles * 4; v++)
        c[v / 4][v % 4] *= factors[t + v % 4 / 2 * 8];
}

/* Multiplies a left-hand matrix's columns by their factors. */
template <int dtype>
static __device__ __forceinline__ void scale_left(unsigned left[4], const float *factors)
{
#pragma unroll
    for (unsigned v = 0; v < 4; v++) {
        const unsigned column = v / 2 * 8 + threadIdx.x % 4 * 2;
        const float2 two = unpack<dtype>(left[v]);
        left[v] = pack<dtype>(two.x * factors[column], two.y * factors[column + 1]);
    }
}

/* state = decay state + (factors x)^T B: what a chunk adds to this warp's 16 rows of H, or of G. */
template <int dtype, int dk_room>
static __device__ __forceinline__ void add_chunk(float state[dk_room / 8][4], float decay, const float *factors,
                                                 const char *x, const char *B)
{
    const unsigned warp = threadIdx.x / 32;
#pragma unroll
    for (unsigned v = 0; v < dk_room / 2; v++)
        state[v / 4][v % 4] *= decay;
#pragma unroll 1
    for (unsigned k = 0; k < BLOCKS16; k++) {
        unsigned left[4];
        load_left_columns(left, x, warp, k, X_ROW);
        scale_left<dtype>(left, factors + k * 16);
        multiply_rows<dtype, dk_room / 16>(state, left, B, k, dk_room * 2, dk_room / 16);
    }
}

/* This warp's rows of a state, from or to memory; 0 where there is none. */
template <int dk_room>
static __device__ __forceinline__ void load_state(float state[dk_room / 8][4], const float *from,
                                                  const struct layer_args *args, const struct place *place)
{
    const size_t row = place->row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, j2 = threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned v = 0; v < dk_room / 2; v++) {
        const size_t r = row + v % 4 / 2 * 8, n = v / 4 * 8 + j2 + v % 2;
        const size_t at = ((place->seq * args->heads + place->head) * args->dv + r) * args->dk + n;
        state[v / 4][v % 4] = from != NULL && r < args->dv && n < args->dk ? from[at] : 0.0f;
    }
}

template <int dk_room>
static __device__ __forceinline__ void store_state(const float state[dk_room / 8][4], float *to,
                                                   const struct layer_args *args, const struct place *place)
{
    const size_t row = place->row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, j2 = threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned v = 0; v < dk_room / 2; v++) {
        const size_t r = row + v % 4 / 2 * 8, n = v / 4 * 8 + j2 + v % 2;
        const size_t at = ((place->seq * args->heads + place->head) * args->dv + r) * args->dk + n;
        if (to != NULL && r < args->dv && n < args->dk)
            to[at] = state[v / 4][v % 4];
    }
}

/* ---- forward: the state before each chunk ---- */

/* states: for each chunk, head and slice ROWS rows of dk_room numbers, in 16 bits. */
template <int dtype, int dk_room>
static __global__ void __launch_bounds__(THREADS)
    layer_chunk_states(struct layer_args args, unsigned slices, char *states)
{
    constexpr int DK_ROW = dk_room * 2;
    extern __shared__ __align__(128) char memory[];
    __shared__ struct times times;
    char *const x = memory, *const B = x + CHUNK * X_ROW;
    const struct place place = place_of_block(&args, slices);
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    float H[dk_room / 8][4];
    load_state<dk_room>(H, args.initial_state, &args, &place);
    for (size_t chunk = 0; chunk < place.chunks; chunk++) {
        copy_x(x, args.x, &args, &place, chunk * CHUNK);
        copy_columns<dk_room>(B, args.B, &args, &place, chunk * CHUNK);
        __pipeline_commit();
        if (threadIdx.x < 32)
            store_times<dtype>(&times, &args, &place, chunk * CHUNK);
        char *const to = states + state_at(&args, slices, &place, chunk) * ROWS * DK_ROW;
#pragma unroll
        for (unsigned i = 0; i < dk_room / 8; i++)
#pragma unroll
            for (unsigned half = 0; half < 2; half++)
                *(unsigned *)(to + (row + half * 8) * DK_ROW + i * 16 + lane % 4 * 4) =
                    pack<dtype>(H[i][half * 2], H[i][half * 2 + 1]);
        __pipeline_wait_prior(0);
        __syncthreads(); /* the chunk and its times are there */
        add_chunk<dtype, dk_room>(H, times.p[CHUNK - 1], times.joins, x, B);
        __syncthreads(); /* nobody needs them any more */
    }
}

/* ---- and back ---- */

/* Adds up what a chunk's steps have, by warp 0, and writes the block's part: a lane has two steps. */
static __device__ __forceinline__ void store_steps(const struct step_sums *sums, const struct times *times,
                                                   const struct layer_args *args, const struct place *place,
                                                   const struct layer_parts *parts, size_t step)
{
    const unsigned lane = threadIdx.x % 32;
    const float all = times->p[CHUNK - 1] * (sums->gh[0] + sums->gh[1] + sums->gh[2] + sums->gh[3]);
    const float u0 = sums->dyHC[lane * 2], u1 = sums->dyHC[lane * 2 + 1];
    const float q0 = sums->xGB[lane * 2], q1 = sums->xGB[lane * 2 + 1];
    float behind = u0 + u1, before = q0 + q1; /* of all lanes from this one on, and up to this one */
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float u = __shfl_down_sync(0xFFFFFFFF, behind, distance);
        const float q = __shfl_up_sync(0xFFFFFFFF, before, distance);
        behind += lane + distance < 32 ? u : 0.0f;
        before += lane >= distance ? q : 0.0f;
    }
    behind = __shfl_down_sync(0xFFFFFFFF, behind, 1); /* without this one */
    before = __shfl_up_sync(0xFFFFFFFF, before, 1);
    behind = lane < 31 ? behind : 0.0f;
    before = lane > 0 ? before : 0.0f;
    const float others[2] = {u0 + u1 + behind + before, u1 + behind + before + q0};
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        const unsigned t = lane * 2 + i;
        if (step + t < place->steps) {
            const size_t at = (place->begin + step + t) * args->heads + place->head;
            const struct layer_step_part part = {sums->r[t] + others[i] + all, sums->gb[t], sums->d_D[t]};
            parts->steps[at * parts->parts + place->part] = part;
        }
    }
}

/* Writes this warp's steps of a block's part of d_B or d_C, the columns from `first` on. */
static __device__ __forceinline__ void store_columns(float *to, const float c[COLUMNS / 8][4], unsigned first,
                                                     const struct layer_args *args, const struct place *place,
                                                     const struct layer_parts *parts, size_t step)
{
    const unsigned t = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, j2 = threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        const size_t at = (place->begin + step + t + half * 8) * args->heads + place->head;
        float *const row = to + (at * parts->parts + place->part) * args->dk + first + j2;
#pragma unroll
        for (unsigned i = 0; i < COLUMNS / 8; i++)
            if (step + t + half * 8 < place->steps && first + i * 8 < args->dk)
                *(float2 *)(row + i * 8) = make_float2(c[i][half * 2], c[i][half * 2 + 1]);
    }
}

template <int dtype, int dk_room>
static __global__ void __launch_bounds__(THREADS, 2)
    layer_chunk_gradients(struct layer_backward_args args, unsigned slices, struct layer_parts parts,
                          const char *states)
{
    constexpr int DK_ROW = dk_room * 2, WIDE = dk_room / 16; /* WIDE: blocks of 16 columns */
    extern __shared__ __align__(128) char memory[];
    char *const x = memory, *const d_y = x + CHUNK * X_ROW, *const B = d_y + CHUNK * X_ROW,
                *const C = B + CHUNK * DK_ROW;
    char *const H = C + CHUNK * DK_ROW, *const G16 = H + ROWS * DK_ROW, *const S = G16 + ROWS * DK_ROW;
    char *const dT = S + CHUNK * SCORES_ROW, *const Z = dT + CHUNK * SCORES_ROW;
    struct times *const times = (struct times *)(Z + CHUNK * SCORES_ROW);
    struct step_sums *const sums = (struct step_sums *)(times + 1);
    const struct layer_args *const layer = &args.layer;
    const struct place place = place_of_block(layer, slices);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j2 = lane % 4 * 2;
    const float D = layer->D != NULL ? layer->D[place.head] : 0.0f;
    float G[dk_room / 8][4];
    load_state<dk_room>(G, args.d_final_state, layer, &place);
    for (size_t chunk = place.chunks; chunk-- > 0;) {
        const size_t step = chunk * CHUNK;
        copy_x(x, layer->x, layer, &place, step);
        copy_columns<dk_room>(B, layer->B, layer, &place, step);
        copy_columns<dk_room>(C, layer->C, layer, &place, step);
        copy_tile<DK_ROW, ROWS * DK_ROW, THREADS>(H, states + state_at(layer, slices, &place, chunk) * ROWS * DK_ROW,
                                                  dk_room, ROWS, dk_room);
        __pipeline_commit();
        store_d_y<dtype>(d_y, &args, &place, step);
        if (warp == 0)
            store_times<dtype>(times, layer, &place, step);
#pragma unroll
        for (unsigned v = 0; v < dk_room / 4; v++)
            put_two(G16, v / 2, v % 2, DK_ROW, pack<dtype>(G[v / 2][v % 2 * 2], G[v / 2][v % 2 * 2 + 1]));
        __pipeline_wait_prior(0);
        __syncthreads(); /* all of the chunk is there */

        /* [scores] This warp's 16 steps t, and 16 steps u at a time, up to the diagonal; nobody reads the others. */
#pragma unroll 1
        for (unsigned u = 0; u <= warp; u++) {
            float T[2][4] = {}, V[2][4] = {};
#pragma unroll 1
            for (unsigned k = 0; k < WIDE; k++) {
                unsigned left[4];
                load_left(left, C, warp, k, DK_ROW);
                multiply_columns<dtype, 1>(T, left, B + u * 16 * DK_ROW, k, DK_ROW);
            }
#pragma unroll 1
            for (unsigned k = 0; k < BLOCKS16; k++) {
                unsigned left[4];
                load_left(left, d_y, warp, k, X_ROW);
                multiply_columns<dtype, 1>(V, left, x + u * 16 * X_ROW, k, X_ROW);
            }
#pragma unroll
            for (unsigned v = 0; v < 4; v++) {
                const unsigned i = u * 2 + v / 2, half = v % 2, t = warp * 16 + l + half * 8, first = i * 8 + j2;
                float score[2], d_score[2], both[2];
#pragma unroll
                for (unsigned e = 0; e < 2; e++) {
                    const bool joins = first + e <= t;
                    const float decay = joins ? fast_exp2(times->log_p[t] - times->log_p[first + e]) : 0.0f;
                    const float in = T[v / 2][half * 2 + e], out = V[v / 2][half * 2 + e], s = times->s[first + e];
                    score[e] = joins ? in * decay : 0.0f;
                    d_score[e] = joins ? out * decay * s : 0.0f;
                    both[e] = joins ? score[e] * s * out : 0.0f;
                }
                put_two(S, i, half, SCORES_ROW, pack<dtype>(score[0], score[1]));
                put_two(dT, i, half, SCORES_ROW, pack<dtype>(d_score[0], d_score[1]));
                put_two(Z, i, half, SCORES_ROW, pack<dtype>(both[0], both[1]));
            }
        }

        __syncwarp(); /* this warp's own rows of the scores are there */

        /* [y] Computed again, for the gate's gradient. */
        if (layer->z != NULL) {
            float y[ROWS / 8][4] = {};
#pragma unroll 1
            for (unsigned k = 0; k < WIDE; k++) {
                unsigned left[4];
                load_left(left, C, warp, k, DK_ROW);
                multiply_columns<dtype, ROWS / 16>(y, left, H, k, DK_ROW);
            }
            scale_rows<ROWS / 8>(y, times->p);
#pragma unroll 1
            for (unsigned k = 0; k <= warp; k++) {
                unsigned left[4];
                load_left(left, S, warp, k, SCORES_ROW);
                scale_left<dtype>(left, times->s + k * 16);
                multiply_rows<dtype, ROWS / 16>(y, left, x, k, X_ROW, ROWS / 16);
            }
#pragma unroll
            for (unsigned v = 0; v < ROWS / 4; v++) {
                const unsigned i = v / 2, half = v % 2, row = i * 8 + j2;
                const size_t t = step + warp * 16 + l + half * 8;
                const size_t at = ((place.begin + t) * layer->heads + place.head) * layer->dv + place.row + row;
                if (t < place.steps && place.row + row < layer->dv) {
                    const float2 in = two_of<dtype>(x, i, half, X_ROW);
                    const float2 z = unpack<dtype>(*(const unsigned *)((const char *)layer->z + at * 2));
                    const float2 d_out = unpack<dtype>(*(const unsigned *)((const char *)args.d_out + at * 2));
                    *(unsigned *)((char *)args.d_z + at * 2) =
                        pack<dtype>(d_out.x * (y[i][half * 2] + D * in.x) * silu_slope(z.x),
                                    d_out.y * (y[i][half * 2 + 1] + D * in.y) * silu_slope(z.y));
                }
            }
        }

        /* [d_C] What the state before the chunk gives, then what the chunk's own inputs give: 64 columns at a time. */
#pragma unroll 1
        for (unsigned first = 0; first < dk_room; first += COLUMNS) {
            float d_C[COLUMNS / 8][4] = {};
#pragma unroll 1
            for (unsigned k = 0; k < ROWS / 16; k++) {
                unsigned left[4];
                load_left(left, d_y, warp, k, X_ROW);
                multiply_rows<dtype, COLUMNS / 16>(d_C, left, H + first * 2, k, DK_ROW, COLUMNS / 16);
            }
            scale_rows<COLUMNS / 8>(d_C, times->p);
            dot_rows<dtype, COLUMNS / 8>(d_C, C + first * 2, DK_ROW, sums->dyHC, first != 0);
#pragma unroll 1
            for (unsigned k = 0; k <= warp; k++) {
                unsigned left[4];
                load_left(left, dT, warp, k, SCORES_ROW);
                multiply_rows<dtype, COLUMNS / 16>(d_C, left, B + first * 2, k, DK_ROW, COLUMNS / 16);
            }
            store_columns(parts.d_C, d_C, first, layer, &place, &parts, step);
        }
        __syncthreads(); /* all scores are there */

        /* [d_B] From here on this warp's 16 steps are inputs, and what they gave to later steps counts. */
#pragma unroll 1
        for (unsigned first = 0; first < dk_room; first += COLUMNS) {
            float d_B[COLUMNS / 8][4] = {};
#pragma unroll 1
            for (unsigned k = 0; k < ROWS / 16; k++) {
                unsigned left[4];
                load_left(left, x, warp, k, X_ROW);
                multiply_rows<dtype, COLUMNS / 16>(d_B, left, G16 + first * 2, k, DK_ROW, COLUMNS / 16);
            }
            scale_rows<COLUMNS / 8>(d_B, times->joins);
            dot_rows<dtype, COLUMNS / 8>(d_B, B + first * 2, DK_ROW, sums->xGB, first != 0);
#pragma unroll 1
            for (unsigned k = warp; k < BLOCKS16; k++) {
                unsigned left[4];
                load_left_columns(left, dT, warp, k, SCORES_ROW);
                multiply_rows<dtype, COLUMNS / 16>(d_B, left, C + first * 2, k, DK_ROW, COLUMNS / 16);
            }
            store_columns(parts.d_B, d_B, first, layer, &place, &parts, step);
        }

        /* [d_x] GB becomes the gradient of s x, from later chunks by G and from this one by S^T. */
        float GB[ROWS / 8][4] = {};
#pragma unroll 1
        for (unsigned k = 0; k < WIDE; k++) {
            unsigned left[4];
            load_left(left, B, warp, k, DK_ROW);
            multiply_columns<dtype, ROWS / 16>(GB, left, G16, k, DK_ROW);
        }
        scale_rows<ROWS / 8>(GB, times->to_end);
#pragma unroll 1
        for (unsigned k = warp; k < BLOCKS16; k++) {
            unsigned left[4];
            load_left_columns(left, S, warp, k, SCORES_ROW);
            multiply_rows<dtype, ROWS / 16>(GB, left, d_y, k, X_ROW, ROWS / 16);
        }
        dot_rows<dtype, ROWS / 8>(GB, x, X_ROW, sums->gb, false);
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const unsigned own = warp * 16 + l + half * 8;
            const size_t t = step + own;
            const size_t at = ((place.begin + t) * layer->heads + place.head) * layer->dv + place.row + j2;
            float d_D = 0.0f;
#pragma unroll
            for (unsigned i = 0; i < ROWS / 8; i++) {
                const float2 in = two_of<dtype>(x, i, half, X_ROW), out = two_of<dtype>(d_y, i, half, X_ROW);
                d_D += in.x * out.x + in.y * out.y;
                if (t < place.steps && place.row + i * 8 < layer->dv)
                    *(unsigned *)((char *)args.d_x + (at + i * 8) * 2) = pack<dtype>(
                        times->s[own] * GB[i][half * 2] + D * out.x, times->s[own] * GB[i][half * 2 + 1] + D * out.y);
            }
            d_D = sum_of_row(d_D);
            if (lane % 4 == 0)
                sums->d_D[own] = d_D;
        }

        /* [r] The triangle of ones times Z: of a column i what steps j >= t have; then the columns before t. */
        float W[CHUNK / 8][4] = {};
#pragma unroll 1
        for (unsigned k = warp; k < BLOCKS16; k++) {
            unsigned ones[4];
#pragma unroll
            for (unsigned v = 0; v < 4; v++) {
                const unsigned t = warp * 16 + l + v % 2 * 8, j = k * 16 + v / 2 * 8 + j2;
                ones[v] = pack<dtype>(j >= t ? 1.0f : 0.0f, j + 1 >= t ? 1.0f : 0.0f);
            }
            multiply_rows<dtype, BLOCKS16>(W, ones, Z, k, SCORES_ROW, warp + 1);
        }
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const unsigned t = warp * 16 + l + half * 8;
            float r = 0.0f;
#pragma unroll
            for (unsigned v = 0; v < CHUNK / 4; v++)
                r += v / 2 * 8 + j2 + v % 2 < t ? W[v / 2][half * 2 + v % 2] : 0.0f;
            r = sum_of_row(r);
            if (lane % 4 == 0)
                sums->r[t] = r;
        }
        float gh = 0.0f;
#pragma unroll
        for (unsigned v = 0; v < dk_room / 4; v++) {
            const float2 two = two_of<dtype>(H, v / 2, v % 2, DK_ROW);
            gh += G[v / 2][v % 2 * 2] * two.x + G[v / 2][v % 2 * 2 + 1] * two.y;
        }
#pragma unroll
        for (unsigned distance = 16; distance > 0; distance /= 2)
            gh += __shfl_xor_sync(0xFFFFFFFF, gh, distance);
        if (lane == 0)
            sums->gh[warp] = gh;

        /* [state] The gradient of the state before the chunk. */
        add_chunk<dtype, dk_room>(G, times->p[CHUNK - 1], times->p, d_y, C);
        __syncthreads(); /* the steps' sums are there, and nobody reads the tiles any more */
        if (warp == 0)
            store_steps(sums, times, layer, &place, &parts, step);
        __syncwarp(); /* warp 0 has read the times that it is about to replace */
    }
    store_state<dk_room>(G, args.d_initial_state, layer, &place);
}

/* ---- launches ---- */

static size_t slices_of(const struct layer_args *args)
{
    return (args->dv + ROWS - 1) / ROWS;
}

static size_t room_of(const struct layer_args *args)
{
    return args->dk <= 64 ? 64 : 128;
}

extern "C" size_t layer_chunk_backward_workspace(const struct layer_args *args)
{
    const size_t slices = slices_of(args), chunks = args->batch * args->seq_len / CHUNK + layer_num_seqs(args);
    return layer_parts_size(args, slices) + chunks * args->heads * slices * ROWS * room_of(args) * 2;
}

extern "C" size_t layer_chunk_backward_shared(const struct layer_args *args)
{
    return 2 * CHUNK * X_ROW + 4 * CHUNK * room_of(args) * 2 + 3 * CHUNK * SCORES_ROW + sizeof(struct times) +
           sizeof(struct step_sums);
}

typedef void states_kernel(struct layer_args, unsigned, char *);
typedef void gradients_kernel(struct layer_backward_args, unsigned, struct layer_parts, const char *);

extern "C" cudaError_t layer_chunk_backward(const struct layer_backward_args *args, cudaStream_t stream)
{
    const struct layer_args *const layer = &args->layer;
    bool done;
    cudaError_t error = layer_backward_begin(args, layer_chunk_backward_workspace, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t slices = slices_of(layer), both = layer_num_seqs(layer) * layer->heads;
    if (layer->dtype == FLOAT32 || layer->dk % 8 != 0 || layer->dv % 8 != 0 || layer->dk > 128 ||
        slices > 0x7FFFFFFF / both)
        return cudaErrorInvalidValue;
    const bool bf16 = layer->dtype == BF16, small = layer->dk <= 64;
    states_kernel *const on = bf16 ? (small ? layer_chunk_states<BF16, 64> : layer_chunk_states<BF16, 128>)
                                   : (small ? layer_chunk_states<FP16, 64> : layer_chunk_states<FP16, 128>);
    gradients_kernel *const back = bf16 ? (small ? layer_chunk_gradients<BF16, 64> : layer_chunk_gradients<BF16, 128>)
                                        : (small ? layer_chunk_gradients<FP16, 64> : layer_chunk_gradients<FP16, 128>);
    const struct layer_parts parts = layer_parts_at(layer, slices);
    char *const states = (char *)layer->workspace + layer_parts_size(layer, slices);
    const size_t first = CHUNK * X_ROW + CHUNK * room_of(layer) * 2, second = layer_chunk_backward_shared(layer);
    error = gpu_allow_shared((const void *)on, first, 80);
    if (error == cudaSuccess)
        error = gpu_allow_shared((const void *)back, second, 80);
    if (error != cudaSuccess)
        return error;
    const unsigned blocks = (unsigned)(slices * both);
    const cudaLaunchConfig_t forward = launch_of(blocks, THREADS, first, stream);
    const cudaLaunchConfig_t backward = launch_of(blocks, THREADS, second, stream);
    error = cudaLaunchKernelEx(&forward, on, *layer, (unsigned)slices, states);
    if (error == cudaSuccess)
        error = cudaLaunchKernelEx(&backward, back, *args, (unsigned)slices, parts, (const char *)states);
    return error != cudaSuccess ? error : layer_add_parts(args, &parts, stream);
}
