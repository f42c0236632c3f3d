/* mma.cu - low_rank.cu, with both products on the tensor cores (sm_80). They multiply transposed matrices:

       p' = h' Y         a step adds 16 columns x 8 rows of h' times 8 rows x 8 ranks of Y
       h' -= p' W'       a step adds 16 columns x 8 ranks of p' times 8 ranks x 8 rows of W'

   Two warps have 16 columns, one of them the upper half of the rows and one the lower half. Each adds up its rows'
   part of p' and tells it the other by shared memory; then each has all of p' for its own rows.

   A result of a step lies in the lanes otherwise than the matrix on the left of the next one (tensor_core.h): lane
   4 l + j holds elements 2 j and 2 j + 1 of a row, and should have j and j + 4. But a sum may be taken in any order. So
   element 2 j is called the j-th of the sum and 2 j + 1 the (j + 4)-th, and Y and W are read in this order.

   A number with 24 bits is a sum of two with 11 that tf32 can hold, and a rest. Of the four products the one of both
   small parts is left out. W and Y of 16 bits are tf32 as they are. */
#include <cuda_runtime.h>
#include <tensor_core.h>

#include "low_rank.cuh"

/* x = big + small, which are tf32 but for the last bits of small. */
static __device__ __forceinline__ void split(float x, float *big, float *small)
{
    *big = __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
    *small = x - *big;
}

/* What a step has given becomes the matrix on the left of another one. */
static __device__ __forceinline__ void turn(const float c[4], float big[4], float small[4])
{
    split(c[0], &big[0], &small[0]);
    split(c[2], &big[1], &small[1]);
    split(c[1], &big[2], &small[2]);
    split(c[3], &big[3], &small[3]);
}

/* c += a (b0, b1) */
template <int storage>
static __device__ __forceinline__ void multiply(float c[4], const float a[4], const float a_small[4], float b0,
                                                float b1)
{
    float b[2] = {b0, b1}, b_small[2];
    if (storage == FLOAT32) {
        split(b0, &b[0], &b_small[0]);
        split(b1, &b[1], &b_small[1]);
        mma_tf32(c, a, b_small);
    }
    mma_tf32(c, a_small, b);
    mma_tf32(c, a, b);
}

/* tiles: of 8 rows, that a warp has. */
template <int storage, int tiles>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    mma_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_THREADS) {
        copy_chunks<storage>(&shape, place, memory, h_local, gamma, W, Y, h_out);
        return;
    }
    const int bytes = (int)stored_bytes(storage), lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j = lane % 4, pair = warp / 2;
    const int row = warp % 2 * tiles * 8 + j * 2, column = pair * 16 + l * 2;
    const size_t state = (place.head * shape.dk + row) * shape.dv + place.start + column;
    float h[tiles][4], big[4][4], small[4][4], first[4], second[4];
    const struct stage in = stage_of(&shape); /* here what the thread has in a stage */
    const unsigned own_y = keep(in.y + (row * shape.stride + l * 4) * bytes), next = keep(shape.stride * bytes);
    const unsigned own_w = keep(in.w + ((row - j * 2 + l) * shape.stride + j * 8) * bytes);
    const unsigned own_x = keep((row * X_STRIDE + column) * bytes), every = keep(shape.decays == 1 ? 0 : 4);
    const unsigned own_gamma = keep(in.gamma + row * every), apart = keep(shape.padded * 16);
    const unsigned mine = keep(in.p + (warp * apart + lane * 4) * 4), both = mine - warp % 2 * apart * 4;
#pragma unroll
    for (int v = 0; v < tiles * 4; v++) /* elements 0 and 2 of a tile are two columns of a row, 1 and 3 of the next */
        h[v / 4][v % 4] =
            initial_state != NULL && is_there(&shape, place, row + v / 4 * 8 + v % 2, column + v % 4 / 2)
                ? initial_state[state + (v / 4 * 8 + v % 2) * shape.dv + v % 4 / 2]
                : 0.0f;
    struct ring ring = ring_of(&shape, memory);
    for (size_t k = 0; k < shape.chunks; k++, ring_next(&ring)) {
        char *const here = ring.stage;
        meet(&ring);
        for (int r = 0; r < shape.padded; r += 32) { /* p' of 32 ranks: in tile v, element n is rank r + 4 n + v */
            float p[4][4] = {};
#pragma unroll
            for (int i = 0; i < tiles; i++) {
                const char *const y = here + own_y + r * bytes + i * 8 * next;
                read4<storage>(y, 0, first);
                read4<storage>(y + next, 0, second);
                turn(h[i], big[0], small[0]);
#pragma unroll
                for (int v = 0; v < 4; v++)
                    multiply<storage>(p[v], big[0], small[0], first[v], second[v]);
            }
#pragma unroll
            for (int v = 0; v < 4; v++)
                *(float4 *)(here + mine + (r * 4 + v * 32) * 16) = make_float4(p[v][0], p[v][1], p[v][2], p[v][3]);
        }
        named_barrier_sync(2 + pair, 64); /* the other warp's parts are there, too */
        float t[tiles][4] = {};
        for (int r = 0; r < shape.padded; r += 32) {
#pragma unroll
            for (int v = 0; v < 4; v++) {
                float p[4], more[4];
                read4<FLOAT32>(here + both, (r * 4 + v * 32) * 4, p);
                read4<FLOAT32>(here + both + apart * 4, (r * 4 + v * 32) * 4, more);
#pragma unroll
                for (int c = 0; c < 4; c++)
                    p[c] += more[c];
                turn(p, big[v], small[v]);
            }
#pragma unroll
            for (int i = 0; i < tiles; i++) {
                const char *const w = here + own_w + r * bytes + i * 8 * next;
                read4<storage>(w, 0, first);
                read4<storage>(w, 4, second);
#pragma unroll
                for (int v = 0; v < 4; v++)
                    multiply<storage>(t[i], big[v], small[v], first[v], second[v]);
            }
        }
#pragma unroll
        for (int v = 0; v < tiles * 2; v++) { /* the thread's rows; h_out takes the place of h_local */
            const int i = v / 2, c = v % 2, of = i * 8 + c;
            const float g = *(const float *)(here + own_gamma + of * every), first = h[i][c], second = h[i][c + 2];
            float x[2];
            read2<storage>(here + own_x, of * X_STRIDE, x);
            h[i][c] = g * (first - t[i][c]) + x[0];
            h[i][c + 2] = g * (second - t[i][c + 2]) + x[1];
            x[0] = exclusive ? first : h[i][c];
            x[1] = exclusive ? second : h[i][c + 2];
            write2<storage>(here + own_x, of * X_STRIDE, x);
        }
    }
    meet_last();
#pragma unroll
    for (int v = 0; v < tiles * 4; v++)
        if (final_state != NULL && is_there(&shape, place, row + v / 4 * 8 + v % 2, column + v % 4 / 2))
            final_state[state + (v / 4 * 8 + v % 2) * shape.dv + v % 4 / 2] = h[v / 4][v % 4];
}

extern "C" cudaError_t chunk_state_mma(const struct chunk_state_args *args, cudaStream_t stream)
{
    static const decltype(&mma_forward<FLOAT32, 4>) kernels[NUM_STORAGES][2] = {
        {mma_forward<FLOAT32, 4>, mma_forward<FLOAT32, 8>},
        {mma_forward<BF16, 4>, mma_forward<BF16, 8>},
        {mma_forward<FP16, 4>, mma_forward<FP16, 8>}};
    const int size = args->dk > MMA_MAX_ROWS / 2; /* 4 or 8 tiles of rows a warp */
    struct low_rank_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = args->dk > MMA_MAX_ROWS ? cudaErrorInvalidValue
                                        : low_rank_shape_of(args, (size_t)64 << size, 32, 2, &shape);
    if (done || error != cudaSuccess)
        return error;
    const auto kernel = kernels[args->storage][size];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess || shape.stages == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    kernel<<<shape.blocks, 2 * LOW_RANK_THREADS, shape.stages *(size_t)shape.stage_bytes, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->W, args->Y, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
