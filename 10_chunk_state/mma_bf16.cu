/* mma_bf16.cu - mma.cu for bf16. */
#include <cuda_runtime.h>

#include "mma_copy.cuh"

static __device__ __forceinline__ void mma_bf16(float c[4], const unsigned a[4], unsigned b0, unsigned b1)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
        " {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    (void)c, (void)a, (void)b0, (void)b1;
    __trap();
#endif
}

static __device__ __forceinline__ void load_matrices(unsigned m[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

static __device__ __forceinline__ void load_transposed(unsigned m[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

/* The upper halves of two float32 numbers, and what is left of them. */
static __device__ __forceinline__ unsigned cut(float x[2])
{
    const unsigned first = __float_as_uint(x[0]), second = __float_as_uint(x[1]);
    x[0] -= __uint_as_float(first & 0xFFFF0000u);
    x[1] -= __uint_as_float(second & 0xFFFF0000u);
    return first >> 16 | (second & 0xFFFF0000u);
}

static __device__ __forceinline__ void turn3(const float x[2], unsigned big[2], unsigned small[2])
{
    float rest[2] = {x[0], x[1]};
    big[0] = cut(rest);
    big[1] = cut(rest);
    small[0] = 0;
    small[1] = cut(rest);
}

/* p' += h' Y for 16 rows */
template <int ranks>
static __device__ __forceinline__ void project16(const char *y, const float (*h)[2], float (*p)[4])
{
    unsigned big[4], small[4], b[ranks][4];
#pragma unroll
    for (int v = 0; v < ranks; v++)
        load_transposed(b[v], y + v * 32);
    turn3(h[0], big, small);
    turn3(h[1], big + 2, small + 2);
#pragma unroll
    for (int v = 0; v < ranks * 2; v++)
        mma_bf16(p[v], big, b[v / 2][v % 2 * 2], b[v / 2][v % 2 * 2 + 1]);
#pragma unroll
    for (int v = 0; v < ranks * 2; v++)
        mma_bf16(p[v], small, b[v / 2][v % 2 * 2], b[v / 2][v % 2 * 2 + 1]);
}

/* t' = p' W' for 32 rows */
template <int ranks>
static __device__ __forceinline__ void back32(const char *w, unsigned next, const unsigned (*big)[4],
                                              const unsigned (*small)[4], float (*t)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        t[i][0] = t[i][1] = t[i][2] = t[i][3] = 0.0f;
#pragma unroll
    for (int q = 0; q < ranks; q++) {
        unsigned b[2][4];
        load_matrices(b[0], w + q * 32);
        load_matrices(b[1], w + q * 32 + 16 * next);
#pragma unroll
        for (int i = 0; i < 4; i++)
            mma_bf16(t[i], big[q], b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
#pragma unroll
        for (int i = 0; i < 4; i++)
            mma_bf16(t[i], small[q], b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
    }
}

/* pairs: of 32 rows; ranks: of 16 */
template <int pairs, int ranks>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    mma_bf16_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_THREADS) {
        copy_for_mma<BF16>(&shape, place, memory, h_local, gamma, W, Y, h_out);
        return;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j = lane % 4;
    const int row = j * 2, column = warp * 8 + l;
    const size_t state = (place.head * shape.dk + row) * shape.dv + place.start + column;
    const struct stage in = stage_of(&shape);
    const unsigned next = keep(shape.stride * 2), mask = keep(exclusive ? 0xFFFFFFFFu : 0u);
    const unsigned own_x = keep((row * X_STRIDE + column) * 2), own_gamma = keep(in.gamma + row * 4);
    const unsigned all_x = keep(lane * X_STRIDE * 2 + warp * 16);
    const unsigned own_y = keep(in.y + lane % 16 * next + lane / 16 * 16);
    const unsigned own_w = keep(in.w + (lane % 8 + lane / 16 * 8) * next + lane / 8 % 2 * 16);
    float h[pairs * 4][2], p[ranks * 2][4] = {};
#pragma unroll
    for (int v = 0; v < pairs * 8; v++)
        h[v / 2][v % 2] = initial_state != NULL && is_there(&shape, place, row + v / 2 * 8 + v % 2, column)
                              ? initial_state[state + (v / 2 * 8 + v % 2) * shape.dv]
                              : 0.0f;
    struct ring ring = ring_of(&shape, memory);
    meet_all();
#pragma unroll
    for (int i = 0; i < pairs * 2; i++)
        project16<ranks>(ring.stage + own_y + i * 16 * next, h + i * 2, p);
    for (size_t k = 0; k < shape.chunks; k++) {
        unsigned big[ranks][4], small[ranks][4];
        char *const here = ring.stage;
#pragma unroll
        for (int v = 0; v < ranks * 2; v++) {
            const float sum[2] = {p[v][0] + p[v][2], p[v][1] + p[v][3]};
            turn3(sum, big[v / 2] + v % 2 * 2, small[v / 2] + v % 2 * 2);
            p[v][0] = p[v][1] = p[v][2] = p[v][3] = 0.0f;
        }
        meet_in_chunk(ring.count); /* the next chunk is there */
        ring_next(&ring);
        float t[2][4][4];
        back32<ranks>(here + own_w, next, big, small, t[0]);
#pragma unroll
        for (int i = 0; i < pairs; i++) {
            unsigned x[4];
            load_transposed(x, here + all_x + i * 32 * X_STRIDE * 2);
            __syncwarp();
            if (i + 1 < pairs)
                back32<ranks>(here + own_w + (i + 1) * 32 * next, next, big, small, t[(i + 1) % 2]);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const int of = i * 32 + c * 8;
                const float2 g = *(const float2 *)(here + own_gamma + of * 4), local = unpack<BF16>(x[c]);
                const float up = h[i * 4 + c][0], down = h[i * 4 + c][1];
                const float *const s = t[i % 2][c];
                float *const now = h[i * 4 + c];
                now[0] = g.x * (up - (s[0] + s[2])) + local.x;
                now[1] = g.y * (down - (s[1] + s[3])) + local.y;
                const unsigned both = (pack<BF16>(up, down) & mask) | (pack<BF16>(now[0], now[1]) & ~mask);
                unsigned short *const out = (unsigned short *)(here + own_x) + of * X_STRIDE;
                out[0] = (unsigned short)both;
                out[X_STRIDE] = (unsigned short)(both >> 16);
            }
            project16<ranks>(ring.stage + own_y + i * 32 * next, h + i * 4, p);
            project16<ranks>(ring.stage + own_y + (i * 32 + 16) * next, h + i * 4 + 2, p);
        }
    }
    meet_all();
#pragma unroll
    for (int v = 0; v < pairs * 8; v++)
        if (final_state != NULL && is_there(&shape, place, row + v / 2 * 8 + v % 2, column))
            final_state[state + (v / 2 * 8 + v % 2) * shape.dv] = h[v / 2][v % 2];
}

extern "C" cudaError_t chunk_state_mma_bf16(const struct chunk_state_args *args, cudaStream_t stream)
{
    static const decltype(&mma_bf16_forward<2, 1>) kernels[2][3] = {
        {mma_bf16_forward<2, 1>, mma_bf16_forward<2, 2>, mma_bf16_forward<2, 4>},
        {mma_bf16_forward<4, 1>, mma_bf16_forward<4, 2>, mma_bf16_forward<4, 4>}};
    const int size = args->dk > MMA_MAX_ROWS / 2, many = args->rank <= 16 ? 0 : args->rank <= 32 ? 1 : 2;
    struct low_rank_shape shape;
    bool done;
    if (args->rank == 0) /* nothing to multiply */
        return chunk_state_low_rank(args, stream);
    if (args->storage != BF16)
        return chunk_state_mma(args, stream);
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = mma_shape_of(args, &shape);
    if (done || error != cudaSuccess)
        return error;
    const auto kernel = kernels[size][many];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    const size_t shared = shape.stages * (size_t)shape.stage_bytes + MMA_PARTS_BYTES(shape.padded);
    kernel<<<shape.blocks, 2 * LOW_RANK_THREADS, shared, stream>>>(shape, args->exclusive, args->h_local, args->gamma,
                                                                   args->W, args->Y, args->initial_state, args->h_out,
                                                                   args->final_state);
    return cudaGetLastError();
}
