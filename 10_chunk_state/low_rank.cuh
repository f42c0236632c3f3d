/* low_rank.cuh - what low_rank.cu and low_rank_backward.cu share: stages, how a block's warps hand them to each other,
   and the two products with a thin matrix. */
#ifndef LOW_RANK_CUH
#define LOW_RANK_CUH

#include <named_barrier.h>

#include "chunk_state.h"
#include "stored.cuh"

/* Two columns of a row, which stand at a multiple of two. */
template <int storage>
static __device__ __forceinline__ void read2(const void *array, size_t i, float x[2])
{
    if (storage == FLOAT32) {
        const float2 two = ((const float2 *)array)[i / 2];
        x[0] = two.x, x[1] = two.y;
    } else {
        const float2 two = unpack<storage>(((const unsigned *)array)[i / 2]);
        x[0] = two.x, x[1] = two.y;
    }
}

template <int storage>
static __device__ __forceinline__ void write2(void *array, size_t i, const float x[2])
{
    if (storage == FLOAT32)
        ((float2 *)array)[i / 2] = make_float2(x[0], x[1]);
    else
        ((unsigned *)array)[i / 2] = pack<storage>(x[0], x[1]);
}

/* The same number; but the compiler, which cannot see that, keeps it in a register, where otherwise it might compute it
   again in each chunk. All lanes of a warp call it together. */
static __device__ __forceinline__ unsigned keep(unsigned value)
{
    return __shfl_sync(0xFFFFFFFFu, value, threadIdx.x % 32);
}

/* A walk over the stages, again and again. */
struct ring {
    char *stage;
    int bytes, count, which;
};

static __device__ __forceinline__ struct ring ring_of(const struct low_rank_shape *shape, char *memory)
{
    const struct ring ring = {memory, (int)keep(shape->at.end), (int)keep(shape->stages), 0};
    return ring;
}

static __device__ __forceinline__ void ring_next(struct ring *ring)
{
    const bool last = ++ring->which == ring->count;
    ring->stage += last ? (1 - ring->count) * ring->bytes : ring->bytes;
    ring->which = last ? 0 : ring->which;
}

/* Each stage has two or three named barriers: its chunk is there, the products are done, and backward the sums, too. The
   first of each kind; forward has no third one. */
enum { THERE = 1 };
static __device__ __forceinline__ int done_barrier(const struct low_rank_shape *shape)
{
    return THERE + shape->stages;
}

static __device__ __forceinline__ int summed_barrier(const struct low_rank_shape *shape)
{
    return THERE + 2 * shape->stages;
}

/* Where a block is: of its head, the row of chunk 0 in (batch, chunks, heads); and its first column. */
struct place {
    size_t head, zero;
    unsigned start;
};

/* Block (batch * heads + head) * slices + slice. */
static __device__ __forceinline__ struct place place_of(const struct low_rank_shape *shape)
{
    const size_t head = blockIdx.x / shape->slices;
    const struct place place = {head, head / shape->heads * shape->chunks * shape->heads + head % shape->heads,
                                blockIdx.x % shape->slices * COLUMNS};
    return place;
}

/* All threads: what no copy will fill becomes 0, once for all. */
static __device__ __forceinline__ void stages_clear(const struct low_rank_shape *shape, char *stages)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < shape->stages * shape->at.end / 16; i += blockDim.x)
        ((float4 *)stages)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
}

/* What a thread that computes has: two columns of every PARTS-th row, from `part` on. And where that is in a stage, in
   bytes from its beginning; `rows` from one of its rows of W to the next, `decays` from one of its decays. */
struct own {
    int part, column;
    unsigned x, states, d, w, y, rows, gamma, decays, p, q;
};

template <int storage>
static __device__ __forceinline__ struct own own_of(const struct low_rank_shape *shape)
{
    const int bytes = (int)stored_bytes(storage), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    struct own own;
    own.part = lane / SIDE, own.column = warp * SIDE * 2 + lane % SIDE * 2;
    const unsigned x = (own.part * X_STRIDE(storage) + own.column) * bytes, w = own.part * shape->stride * bytes;
    const unsigned of_p = (warp * shape->padded * SIDE * 2 + lane % SIDE * 2) * 4;
    own.x = keep(shape->at.x + x), own.states = keep(shape->at.states + x);
    own.d = keep(shape->at.d + (own.part * X_STRIDE(FLOAT32) + own.column) * 4);
    own.w = keep(shape->at.w + w), own.y = keep(shape->at.y + w), own.rows = keep(PARTS * shape->stride * bytes);
    own.decays = keep(shape->decays == 1 ? 0 : PARTS * 4);
    own.gamma = keep(shape->at.gamma + (shape->decays == 1 ? 0 : own.part * 4));
    own.p = keep(shape->at.p + of_p), own.q = keep(shape->at.q + of_p);
    return own;
}

/* The thread's rows of (batch, heads, dk, dv), float32; what is not there is 0. array: or NULL, then all is. */
template <int rows>
static __device__ __forceinline__ void state_read(const struct low_rank_shape *shape, struct place place,
                                                  struct own own, const float *array, float (*h)[2])
{
#pragma unroll
    for (int v = 0; v < rows * 2; v++) {
        const size_t row = own.part + v / 2 * PARTS, column = place.start + own.column + v % 2;
        h[v / 2][v % 2] = array != NULL && row < (size_t)shape->dk && column < shape->dv
                              ? array[(place.head * shape->dk + row) * shape->dv + column]
                              : 0.0f;
    }
}

template <int rows>
static __device__ __forceinline__ void state_write(const struct low_rank_shape *shape, struct place place,
                                                   struct own own, float *array, const float (*h)[2])
{
#pragma unroll
    for (int v = 0; v < rows * 2; v++) {
        const size_t row = own.part + v / 2 * PARTS, column = place.start + own.column + v % 2;
        if (array != NULL && row < (size_t)shape->dk && column < shape->dv)
            array[(place.head * shape->dk + row) * shape->dv + column] = h[v / 2][v % 2];
    }
}

/* The thread's rows of a matrix in a stage, to registers and back. */
template <int storage, int rows>
static __device__ __forceinline__ void take(const char *x, float (*h)[2])
{
#pragma unroll
    for (int i = 0; i < rows; i++)
        read2<storage>(x, i * PARTS * X_STRIDE(storage), h[i]);
}

template <int storage, int rows>
static __device__ __forceinline__ void leave(char *x, const float (*h)[2])
{
#pragma unroll
    for (int i = 0; i < rows; i++)
        write2<storage>(x, i * PARTS * X_STRIDE(storage), h[i]);
}

/* p = Y^T h for some ranks, 4 or 8. y: the first of them in the thread's first row, its next one is `step` bytes
   further. p: the thread's columns of the first rank; here the warp's lanes leave their sums. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned step, const float (*h)[2], char *p)
{
    const int lane = threadIdx.x % 32, part = lane / SIDE;
    float sum[ranks * 2] = {}, four[4];
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) { /* four ranks of a row */
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(y + i * step, r, four);
        sum[r * 2] += four[r % 4] * h[i][0];
        sum[r * 2 + 1] += four[r % 4] * h[i][1];
    }
#pragma unroll
    for (int d = PARTS / 2; d > 0; d /= 2) { /* a lane gives one half of the sums that it has left to its partner */
        const int left = ranks * 2 * d / PARTS;
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            if (v >= left)
                continue;
            const bool upper = lane & SIDE * d;
            const float given = upper ? sum[v] : sum[v + left], kept = upper ? sum[v + left] : sum[v];
            sum[v] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, SIDE * d);
        }
        if (left == 0) /* or has one only: then both get the same */
            sum[0] += __shfl_xor_sync(0xFFFFFFFFu, sum[0], SIDE * d);
    }
    const int first = part * ranks * 2 / PARTS; /* of its sums, which are one or two; or of two lanes' one */
    if (ranks * 2 > PARTS)
        write2<FLOAT32>(p, first / 2 * SIDE * 2, sum);
    else if (ranks * 2 == PARTS || part % 2 == 0)
        ((float *)p)[first / 2 * SIDE * 2 + first % 2] = sum[0];
}

/* h -= W p for these ranks. p: the thread's columns of the first rank. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void subtract(const char *w, unsigned step, const char *p, float (*h)[2])
{
    float of_p[ranks][2], four[4];
#pragma unroll
    for (int r = 0; r < ranks; r++)
        read2<FLOAT32>(p, r * SIDE * 2, of_p[r]);
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) {
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(w + i * step, r, four);
        h[i][0] -= four[r % 4] * of_p[r][0];
        h[i][1] -= four[r % 4] * of_p[r][1];
    }
}

#endif
