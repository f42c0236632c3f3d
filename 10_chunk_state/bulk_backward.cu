/* bulk_backward.cu - the gradients, with bulk.cu's pieces from the last chunk to the first; a stage holds a piece of the
   states and one of d_h_out. d_gamma is a sum over the columns of a decay, which several threads have: each leaves its
   products in shared memory, and after the barrier that the stages need anyway a few lanes add up each sum, always in
   the same order.

       thread          0  1  2 ... 15 | 16 ... 31 | ...        64 columns a decay, four a thread
       products[step]  .  .  .      . |  .      . |            of the thread's four columns
                       +-- decay 0 ---+-- decay 1-+ ...  */
#include <cuda_runtime.h>

#include "backward_space.h"
#include "pieces.cuh"

/* Piece number p of the block, from the last chunks on. */
static __device__ __forceinline__ struct piece piece_back(const struct pieces_shape *shape, unsigned pieces, unsigned p)
{
    return piece_of(&shape->flat, &shape->cut, blockIdx.x + (size_t)(p / pieces) * gridDim.x,
                    (size_t)(pieces - 1 - p % pieces) * STEPS, shape->flat.chunks);
}

template <int storage>
static __device__ __forceinline__ void send(const void *states, const void *d_h_out, const struct pieces_shape *shape,
                                            unsigned pieces, unsigned p, char *stage, uint64_t *arrived)
{
    const struct piece piece = piece_back(shape, pieces, p);
    mbarrier_expect(arrived, 2 * piece.chunks * piece.columns * (unsigned)stored_bytes(storage));
    piece_load<storage>(states, &shape->flat, &shape->cut, &piece, stage, arrived);
    piece_load<storage>(d_h_out, &shape->flat, &shape->cut, &piece, stage + shape->stage_bytes / 2, arrived);
}

/* Adds up the products of each chunk and decay of a piece, `team` lanes a sum. d_gamma has parts sums a decay. */
static __device__ __forceinline__ void add_products(const struct pieces_shape *shape, const struct piece *piece,
                                                    const float *products, float *d_gamma)
{
    const struct cut *const cut = &shape->cut;
    const int decays = cut->parts == 1 ? piece->columns / (int)cut->per_decay : 1, sums = piece->chunks * decays;
    const int products_each = piece->columns / decays / 4;
    int team = 32;
    while (team > 1 && sums * team > (int)blockDim.x)
        team /= 2;
    for (int base = 0; base < sums * team; base += blockDim.x) {
        const int number = (base + (int)threadIdx.x) / team, lane = threadIdx.x % team;
        const int step = number / decays, decay = number % decays;
        float sum = 0.0f;
        for (int i = lane; number < sums && i < products_each; i += team)
            sum += products[step * blockDim.x + decay * products_each + i];
        for (int d = team / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, d);
        if (number < sums && lane == 0)
            d_gamma[((piece->row + step) * shape->flat.decays + piece->start / cut->per_decay + decay) * cut->parts +
                    piece->start % cut->unit / cut->width] = sum;
    }
}

template <int storage>
static __global__ void __launch_bounds__(PIECES_MAX_THREADS)
    bulk_backward(struct pieces_shape shape, unsigned pieces, bool exclusive, const void *__restrict__ states,
                  const float *__restrict__ gamma, const void *__restrict__ d_h_out,
                  const float *__restrict__ d_final_state, void *__restrict__ d_h_local, float *__restrict__ d_gamma,
                  float *__restrict__ d_initial_state)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    float *const products = (float *)(stages + shape.stages * shape.stage_bytes); /* of this piece and the one before */
    const unsigned count = (unsigned)((shape.items - blockIdx.x - 1) / gridDim.x + 1) * pieces;
    const int own = threadIdx.x * 4;
    float d[4], g[STEPS], next_g[STEPS];

    struct piece next = piece_back(&shape, pieces, 0);
    piece_decays(gamma, &shape.flat, &shape.cut, &next, own, next_g);
    if (threadIdx.x == 0) {
        for (int s = 0; s < shape.stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (unsigned p = 0; p < count && p < (unsigned)shape.stages; p++)
            send<storage>(states, d_h_out, &shape, pieces, p, stages + p * shape.stage_bytes, &arrived[p]);
    }
    __syncthreads(); /* the barriers are there for all */
    for (unsigned p = 0, stage = 0, parity = 0; p < count; p++) {
        const struct piece piece = next;
        const bool inside = own < piece.columns;
        float *const mine = products + p % 2 * STEPS * blockDim.x;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            g[s] = next_g[s];
        if (p + 1 < count) { /* decays come through registers, a piece ahead */
            next = piece_back(&shape, pieces, p + 1);
            piece_decays(gamma, &shape.flat, &shape.cut, &next, own, next_g);
        }
        if (p % pieces == 0)
            state_read(d_final_state, piece.state + own, inside, d);
        mbarrier_wait(&arrived[stage], parity);
        const char *const from = stages + stage * shape.stage_bytes;
#pragma unroll
        for (int s = STEPS - 1; s >= 0; s--)
            if (s < piece.chunks && inside) {
                float h[4], d_out[4], product = 0.0f;
                read4<storage>(from, s * shape.cut.width + own, h);
                read4<storage>(from + shape.stage_bytes / 2, s * shape.cut.width + own, d_out);
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    d[c] += exclusive ? 0.0f : d_out[c];
                    product += d[c] * h[c];
                }
                write4<storage>(d_h_local, (piece.row + s) * shape.flat.columns + piece.start + own, d);
#pragma unroll
                for (int c = 0; c < 4; c++)
                    d[c] = g[s] * d[c] + (exclusive ? d_out[c] : 0.0f);
                mine[s * blockDim.x + threadIdx.x] = product;
            }
        if ((p + 1) % pieces == 0 && d_initial_state != NULL && inside)
            write4<FLOAT32>(d_initial_state, piece.state + own, d);
        copy_engine_fence(); /* the piece was read before its stage is filled again */
        __syncthreads();
        if (threadIdx.x == 0 && p + shape.stages < count)
            send<storage>(states, d_h_out, &shape, pieces, p + shape.stages, stages + stage * shape.stage_bytes,
                          &arrived[stage]);
        add_products(&shape, &piece, mine, d_gamma);
        if (++stage == (unsigned)shape.stages)
            stage = 0, parity ^= 1;
    }
}

extern "C" size_t chunk_state_bulk_workspace(const struct chunk_state_args *args, bool backward)
{
    const struct flat flat = flat_of(args);
    if (!backward || flat.columns == 0)
        return 0;
    const struct cut cut = cut_of(&flat, args->config.threads != 0 ? (unsigned)args->config.threads * 4 : 512);
    return backward_workspace(args, cut.parts);
}

extern "C" cudaError_t chunk_state_bulk_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct pieces_shape, unsigned, bool, const void *, const float *, const void *, const float *,
                         void *, float *, float *) = args->storage == FLOAT32 ? bulk_backward<FLOAT32>
                                                     : args->storage == BF16  ? bulk_backward<BF16>
                                                                              : bulk_backward<FP16>;
    struct pieces_shape shape;
    struct backward_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, 0, stream, &done);
    if (!done)
        error = pieces_shape(args, (const void *)kernel, 128, 0, 2, 2 * STEPS * sizeof(float), &shape);
    if (!done && error == cudaSuccess)
        error = backward_space(args, shape.cut.parts, chunk_state_bulk, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    const size_t pieces = (args->chunks - 1) / STEPS + 1, rounds = (shape.items - 1) / shape.blocks + 1;
    if (pieces > 0x7FFFFFFF / rounds)
        return cudaErrorInvalidValue;
    kernel<<<(unsigned)((shape.items - 1) / rounds + 1), shape.threads, shape.shared, stream>>>(
        shape, (unsigned)pieces, args->exclusive, space.states, args->gamma, args->d_h_out, args->d_final_state,
        args->d_h_local, space.d_gamma, args->d_initial_state);
    error = cudaGetLastError();
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
