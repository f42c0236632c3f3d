#include <cuda_runtime.h>

#include <warpgroup.h>

#include "mma_copy.cuh"

/* The first 8 of the 24 bits of two numbers, as two bf16 in a word. x: what is left of them, exactly. */
static __device__ __forceinline__ unsigned cut(float x[2])
{
    const unsigned first = __float_as_uint(x[0]), second = __float_as_uint(x[1]);
    x[0] -= __uint_as_float(first & 0xFFFF0000u);
    x[1] -= __uint_as_float(second & 0xFFFF0000u);
    return first >> 16 | (second & 0xFFFF0000u);
}

/* Two words of a matrix on the left, of rows l and l + 8: the big parts of two numbers and the middle ones; and of a
   second matrix, nothing and the small ones. */
static __device__ __forceinline__ void turn(float first, float second, unsigned big[2], unsigned small[2])
{
    float x[2] = {first, second};
    big[0] = cut(x);
    big[1] = cut(x);
    small[0] = 0;
    small[1] = cut(x);
}

template <int rows>
static __device__ __forceinline__ void add_products(float (*c)[4], const unsigned big[4], const unsigned small[4],
                                                    warpgroup_matrix b, bool add)
{
    warpgroup_multiply<rows>(c, big, b, add);
    warpgroup_multiply<rows>(c, small, b, true);
}

template <int rows>
static __device__ __forceinline__ unsigned own_w_of(int thread, const struct share *share)
{
    return thread % 32 % (share->apart / 16) * (rows * 16);
}

/* p (+)= h' Y for 32 rows of h */
template <int parts>
static __device__ __forceinline__ void project(float (*p)[4], unsigned (*big)[4], unsigned (*small)[4], float (*h)[2],
                                               warpgroup_matrix y, unsigned apart, bool add)
{
#pragma unroll
    for (int c = 0; c < 4; c++)
        turn(h[c][0], h[c][1], big[c / 2] + c % 2 * 2, small[c / 2] + c % 2 * 2);
    warpgroup_begin();
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int q = 0; q < parts; q++)
            add_products<1>(p + q * 4, big[s], small[s], warpgroup_matrix_at(y, s * 256 + q * 4 * apart), add || s != 0);
    warpgroup_commit();
}

/* halves: of 32 rows; parts: of 32 ranks. */
template <int halves, int parts>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    warpgroup_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                      const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                      const float *__restrict__ initial_state, void *__restrict__ h_out,
                      float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    const struct stage in = stage_of(&shape);
    constexpr unsigned apart = halves * 32 * 16 + 16; /* from 8 ranks to the next 8 */
    stages_clear(&shape, memory);
    copy_engine_fence();
    if (threadIdx.x >= LOW_RANK_THREADS) {
        const int thread = threadIdx.x - LOW_RANK_THREADS, which = thread / 32;
        const int w_bytes = shape.rank * 2, x_bytes = (int)min(shape.dv - place.start, (size_t)COLUMNS) * 2;
        const size_t row = shape.dv * 2, at = place.zero * shape.dk * row + place.start * 2;
        struct copies copies;
        copies.share = which < 2 ? share_of(thread, 64, (const char *)h_local + at, row, in.x, X_STRIDE * 2, shape.dk,
                                            x_bytes, shape.x_unit)
                                 : share_of(thread % 32, 32,
                                            (const char *)(which == 2 ? W : Y) + place.zero * shape.dk * w_bytes,
                                            w_bytes, which == 2 ? in.w : in.y, 16, shape.dk, w_bytes, 16);
        if (which >= 2) /* eight ranks are `apart` from the next eight */
            copies.share.to += thread % 32 % (copies.share.apart / 16) * (apart - 16);
        copies.next = shape.heads * shape.dk * (which < 2 ? row : w_bytes);
        copies.out = which < 2 ? (char *)h_out + (copies.share.from - (const char *)h_local) : NULL;
        copies.decay = which == 2 ? gamma + place.zero * shape.decays : NULL;
        copies.decays = shape.heads * shape.decays;
        copies.gamma = in.gamma;
        copies_run(copies, &shape, memory, true);
        return;
    }
    const int lane = threadIdx.x % 32, row = lane % 4 * 2, column = threadIdx.x / 32 * 8 + lane / 4;
    const size_t state = (place.head * shape.dk + row) * shape.dv + place.start + column;
    const unsigned exclusive_mask = keep(exclusive ? 0xFFFFFFFFu : 0u);
    const unsigned own_x = keep((row * X_STRIDE + column) * 2), own_gamma = keep(in.gamma + row * 4);
    float h[halves * 4][2], p[parts * 4][4]; /* h: two rows of every 8 */
    unsigned big[halves][2][4], small[halves][2][4];
#pragma unroll
    for (int v = 0; v < halves * 8; v++)
        h[v / 2][v % 2] = initial_state != NULL && is_there(&shape, place, row + v / 2 * 8 + v % 2, column)
                              ? initial_state[state + (v / 2 * 8 + v % 2) * shape.dv]
                              : 0.0f;
    meet_all();
#ifdef SWAP
    const warpgroup_matrix y = warpgroup_matrix_of(memory + in.y, apart, 128);
#else
    const warpgroup_matrix y = warpgroup_matrix_of(memory + in.y, 128, apart);
#endif
    const warpgroup_matrix w = warpgroup_matrix_of(memory + in.w, apart, 128);
    unsigned stage = 0, end = shape.stages * shape.stage_bytes;
#pragma unroll
    for (int i = 0; i < halves; i++)
        project<parts>(p, big[i], small[i], h + i * 4, warpgroup_matrix_at(y, i * 512), apart, i != 0);
#pragma unroll 1
    for (size_t k = 0; k < shape.chunks; k++) {
        unsigned p_big[parts * 2][4], p_small[parts * 2][4];
        float t[halves][4][4];
        char *const here = memory + stage;
        const warpgroup_matrix own_w = warpgroup_matrix_at(w, stage);
        warpgroup_wait<0>();
#pragma unroll
        for (int v = 0; v < parts * 4; v++)
            turn(p[v][0] + p[v][2], p[v][1] + p[v][3], p_big[v / 2] + v % 2 * 2, p_small[v / 2] + v % 2 * 2);
        warpgroup_begin();
#pragma unroll
        for (int i = 0; i < halves; i++) {
#pragma unroll
            for (int r = 0; r < parts * 2; r++)
                add_products<0>(t[i], p_big[r], p_small[r], warpgroup_matrix_at(own_w, r * 2 * apart + i * 512),
                                r != 0);
            warpgroup_commit();
        }
        meet_in_chunk(shape.stages); /* the next chunk is there */
        stage = stage + shape.stage_bytes == end ? 0 : stage + shape.stage_bytes;
        const warpgroup_matrix next_y = warpgroup_matrix_at(y, stage);
#pragma unroll
        for (int i = 0; i < halves; i++) {
            float x[4][2];
            float2 g[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const char *const from = here + own_x + (i * 4 + c) * 8 * X_STRIDE * 2;
                x[c][0] = read1<BF16>(from, 0), x[c][1] = read1<BF16>(from, X_STRIDE);
                g[c] = *(const float2 *)(here + own_gamma + (i * 4 + c) * 32);
            }
            warpgroup_wait<halves - 1>();
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float *const of = h[i * 4 + c], *const s = t[i][c];
                const unsigned before = pack<BF16>(of[0], of[1]);
                of[0] = g[c].x * (of[0] - (s[0] + s[2])) + x[c][0];
                of[1] = g[c].y * (of[1] - (s[1] + s[3])) + x[c][1];
                const unsigned out = (before & exclusive_mask) | (pack<BF16>(of[0], of[1]) & ~exclusive_mask);
                char *const to = here + own_x + (i * 4 + c) * 8 * X_STRIDE * 2;
                *(unsigned short *)to = (unsigned short)out;
                *(unsigned short *)(to + X_STRIDE * 2) = (unsigned short)(out >> 16);
            }
            project<parts>(p, big[i], small[i], h + i * 4, warpgroup_matrix_at(next_y, i * 512), apart, i != 0);
        }
    }
    warpgroup_wait<0>();
    meet_all(); /* the last chunk is done */
#pragma unroll
    for (int v = 0; v < halves * 8; v++)
        if (final_state != NULL && is_there(&shape, place, row + v / 2 * 8 + v % 2, column))
            final_state[state + (v / 2 * 8 + v % 2) * shape.dv] = h[v / 2][v % 2];
}

#ifndef NAME
#define NAME chunk_state_warpgroup
#endif
extern "C" cudaError_t NAME(const struct chunk_state_args *args, cudaStream_t stream)
{
    struct low_rank_shape shape;
    bool done;
    if (args->rank == 0 || args->rank % 8 != 0 || args->storage != BF16)
        return cudaErrorNotSupported;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = warpgroup_shape_of(args, &shape);
    if (done || error != cudaSuccess)
        return error;
    static const decltype(&warpgroup_forward<2, 1>) kernels[2][2] = {
        {warpgroup_forward<2, 1>, warpgroup_forward<2, 2>}, {warpgroup_forward<4, 1>, warpgroup_forward<4, 2>}};
    const auto kernel = kernels[args->dk > 64][args->rank > 32];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, 2 * LOW_RANK_THREADS, shape.stages *(size_t)shape.stage_bytes, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->W, args->Y, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
