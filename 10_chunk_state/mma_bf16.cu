/* mma_bf16.cu - mma.cu for bf16, which the tensor cores take as it is: W and Y are not converted, and a step goes over
   16 rows or ranks. What is float32, h and p, is cut into three numbers of 8 bits, a big, a middle and a small one. A
   step's matrix on the left has 16 rows, and a warp 8 columns of h':

       row l        big part of column l       nothing             row l        c[0], c[1]
       row l + 8    middle part of it          small part of it    row l + 8    c[2], c[3]
                    first step                 second step         result: lane 4 l + j has 2 j and 2 j + 1 of both rows

   So a lane adds by itself what belongs to a column, and results lie as the words of the next product's matrix do
   (tensor_core.h). As in mma.cu two warps share the columns, each with half of the rows, and big parts alone are added to
   sums of big parts. But there are eight warps, two on each scheduler, and these two are not at the same place. When all
   meet, one begins W p, and the other one has just done it:

       warps 0 to 3    sums of p | all meet | W p      | new h, next p ...
       warps 4 to 7    sums of p | W p      | all meet | new h, next p ...

   While one of them multiplies, the other one can cut numbers. The two that share columns have a barrier of their own. */
#include <cuda_runtime.h>

#include "mma_bf16.cuh"
#include "mma_copy.cuh"

enum { COMPUTING = 256 }; /* threads */

/* tiles: of 16 rows, that a warp has, and ranks: of 16 ranks. */
template <int tiles, int ranks>
static __global__ void __launch_bounds__(COMPUTING + MMA_COPYING, 1)
    mma_bf16_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= COMPUTING)
        return copy_for_mma<BF16>(&shape, place, memory, h_local, gamma, W, Y, h_out);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp % 2 * tiles * 16;
    const int row = first + lane % 4 * 2, column = warp / 2 * 8 + lane / 4;
    const size_t state = (place.head * shape.dk + row) * shape.dv + place.start + column;
    const struct stage in = stage_of(&shape); /* here what the thread has in a stage; and its rows of matrices */
    const unsigned next = keep(shape.stride * 2), next_x = X_STRIDE * 2;
    const unsigned exclusive_mask = keep(exclusive ? 0xFFFFFFFFu : 0u);
    const unsigned own_x = keep(row * next_x + column * 2), own_gamma = keep(in.gamma + row * 4);
    const unsigned from_x = keep((first + lane) * next_x + warp / 2 * 16);
    const unsigned from_y = keep(in.y + (first + lane % 16) * next + lane / 16 * 16);
    const unsigned from_w = keep(in.w + (first + lane % 8 + lane / 16 * 8) * next + lane / 8 % 2 * 16);
    float4 *const parts = (float4 *)(memory + shape.stages * shape.stage_bytes) + warp * ranks * 32 + lane;
    const int others = (warp % 2 == 0 ? 32 : -32) * ranks;
    float h[tiles * 2][2], p[ranks * 2][4] = {}; /* h: two rows of every 8, rows 2 j and 2 j + 1 */
#pragma unroll
    for (int v = 0; v < tiles * 4; v++)
        h[v / 2][v % 2] = initial_state != NULL && is_there(&shape, place, row + v / 2 * 8 + v % 2, column)
                              ? initial_state[state + (v / 2 * 8 + v % 2) * shape.dv]
                              : 0.0f;
    struct ring ring = ring_of(&shape, memory);
    meet_all();
#pragma unroll
    for (int i = 0; i < tiles; i++)
        project<ranks>(ring.stage + from_y + i * 16 * next, h + i * 2, p);
    for (size_t k = 0; k < shape.chunks; k++) {
        unsigned big[ranks][4], small[ranks][4];
        unsigned x[4];
        float t[2][2][2];
        float4 sum[ranks], *const mine = parts + k % 2 * ranks * COMPUTING;
        char *const here = ring.stage;
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            const float *const a = p[v * 2], *const b = p[v * 2 + 1];
            mine[v * 32] = sum[v] = make_float4(a[0] + a[2], a[1] + a[3], b[0] + b[2], b[1] + b[3]);
        }
        named_barrier_sync(2 + warp / 2, 64); /* the other warp's sums are there */
        if (warp < 4)
            meet_in_chunk(ring.count); /* the next chunk is there */
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            const float4 more = mine[others + v * 32];
            turn(sum[v].x + more.x, sum[v].y + more.y, big[v], small[v]);
            turn(sum[v].z + more.z, sum[v].w + more.w, big[v] + 2, small[v] + 2);
        }
#pragma unroll
        for (int v = 0; v < ranks * 8; v++)
            p[v / 4][v % 4] = 0.0f;
        ring_next(&ring);
        multiply_back<ranks>(here + from_w, big, small, t[0]);
        if (warp >= 4)
            meet_in_chunk(ring.count);
#pragma unroll
        for (int i = 0; i < tiles; i++) {
            if (i % 2 == 0)
                load_matrices_transposed(x, here + from_x + i * 16 * next_x);
            __syncwarp(); /* h_out takes the place of h_local */
            /* the next tile's, so that there is something to do while this one's result is awaited */
            if (i + 1 < tiles)
                multiply_back<ranks>(here + from_w + (i + 1) * 16 * next, big, small, t[(i + 1) % 2]);
#pragma unroll
            for (int c = 0; c < 2; c++) {
                float *const of = h[i * 2 + c], *const back = t[i % 2][c];
                const float2 local = unpack<BF16>(x[i % 2 * 2 + c]);
                const float2 g = *(const float2 *)(here + own_gamma + (i * 2 + c) * 32);
                const unsigned before = pack<BF16>(of[0], of[1]);
                of[0] = g.x * (of[0] - back[0]) + local.x;
                of[1] = g.y * (of[1] - back[1]) + local.y;
                const unsigned out = (before & exclusive_mask) | (pack<BF16>(of[0], of[1]) & ~exclusive_mask);
                char *const to = here + own_x + (i * 2 + c) * 8 * next_x;
                *(unsigned short *)to = (unsigned short)out;
                *(unsigned short *)(to + next_x) = (unsigned short)(out >> 16);
            }
            project<ranks>(ring.stage + from_y + i * 16 * next, h + i * 2, p); /* of the next chunk */
        }
    }
    meet_all(); /* the last chunk is done */
#pragma unroll
    for (int v = 0; v < tiles * 4; v++)
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
    kernel<<<shape.blocks, COMPUTING + MMA_COPYING, shared, stream>>>(shape, args->exclusive, args->h_local,
                                                                      args->gamma, args->W, args->Y,
                                                                      args->initial_state, args->h_out,
                                                                      args->final_state);
    return cudaGetLastError();
}
