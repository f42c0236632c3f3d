/* bulk_backward.cu - the gradients, with bulk.cu's pieces from the last chunk to the first; a stage holds a piece of
   the states and one of d_h_out. d_gamma is a sum over the columns of a decay, which several threads have: each leaves
   its products in shared memory, and after the barrier that the stages need anyway a few lanes add up each sum, always
   in the same order.

       thread          0  1  2 ... 15 | 16 ... 31 | ...        64 columns a decay, four a thread
       products[step]  .  .  .      . |  .      . |            of the thread's four columns
                       +-- decay 0 ---+-- decay 1-+ ...  */
#include <cuda_runtime.h>

#include "chunk_state.h"
#include "pieces.cuh"

/* Asks for a piece of both arrays and its decays, if there is one. All threads call it. */
template <int storage>
static __device__ __forceinline__ void send(const void *states, const void *d_h_out, const float *gamma,
                                            const struct pieces_shape *shape, const struct piece *piece, char *stage,
                                            uint64_t *arrived)
{
    if (piece->item < shape->items) {
        piece_load<storage, 2>(states, d_h_out, shape, piece, stage, arrived);
        decays_load(gamma, shape, piece, stage);
    }
    __pipeline_commit();
}

/* Adds up the products of each chunk and decay of a piece, `team` lanes a sum. d_gamma has parts sums a decay. */
static __device__ __forceinline__ void add_products(const struct pieces_shape *shape, const struct piece *piece,
                                                    const float *products, float *d_gamma)
{
    const struct cut *const cut = &shape->cut;
    const int decays = piece->decays, sums = piece->chunks * decays;
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
static __global__ void __launch_bounds__(PIECES_MAX_THREADS, 1)
    bulk_backward(struct pieces_shape shape, bool exclusive, const void *__restrict__ states,
                  const float *__restrict__ gamma, const void *__restrict__ d_h_out,
                  const float *__restrict__ d_final_state, void *__restrict__ d_h_local, float *__restrict__ d_gamma,
                  float *__restrict__ d_initial_state)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    float *products = (float *)(stages + shape.stages * shape.stage_bytes); /* of a piece, and of the one before */
    const int own = threadIdx.x * 4, decay = decay_of(&shape);
    const size_t row_len = shape.flat.columns;
    struct piece piece = piece_last(&shape, blockIdx.x), later = piece, last = {shape.items, 0, 0, 0, 0, 0, 0, 0};
    float d[4];

    barriers_init(arrived, shape.stages);
    for (int s = 0; s < shape.stages; s++) {
        send<storage>(states, d_h_out, gamma, &shape, &later, stages + s * shape.stage_bytes, &arrived[s]);
        piece_before(&shape, &later);
    }
    decays_wait(shape.stages - 1);
    __syncthreads(); /* the first piece's decays are there for all */
    for (int stage = 0, parity = 0, turn = 1; piece.item < shape.items; piece_before(&shape, &piece), turn = -turn) {
        char *const from = stages + stage * shape.stage_bytes;
        const bool inside = own < piece.columns;
        if (piece.first + STEPS >= shape.flat.chunks)
            state_read(d_final_state, piece.state + own, inside, d);
        mbarrier_wait(&arrived[stage], parity);
        float h[STEPS][4], d_out[STEPS][4], decays[STEPS];
        piece_take<storage>(&shape, &piece, from, inside ? own : 0, h);
        piece_take<storage>(&shape, &piece, from + shape.piece_bytes, inside ? own : 0, d_out);
        decays_take(&shape, &piece, from, inside ? decay : 0, decays);
        copy_engine_fence(); /* the piece was read before its stage is filled again */
        decays_wait(shape.stages - 2);
        __syncthreads(); /* ... and the next piece's decays, and the last one's products, are there for all */
        send<storage>(states, d_h_out, gamma, &shape, &later, from, &arrived[stage]);
        piece_before(&shape, &later);
        if (last.item < shape.items)
            add_products(&shape, &last, products, d_gamma);
        products += turn * STEPS * (int)blockDim.x; /* to the other ones, and back */

        char *const to = (char *)d_h_local + (piece.row * row_len + piece.start) * stored_bytes(storage);
#pragma unroll
        for (int s = STEPS - 1; s >= 0; s--) {
            float product = 0.0f;
#pragma unroll
            for (int c = 0; c < 4; c++) {
                d[c] += exclusive ? 0.0f : d_out[s][c];
                product += d[c] * h[s][c];
            }
            if (s < piece.chunks && inside)
                write4<storage>(to, s * row_len + own, d);
#pragma unroll
            for (int c = 0; c < 4; c++)
                d[c] = decays[s] * d[c] + (exclusive ? d_out[s][c] : 0.0f);
            products[s * blockDim.x + threadIdx.x] = product;
        }
        if (piece.first == 0 && d_initial_state != NULL && inside)
            write4<FLOAT32>(d_initial_state, piece.state + own, d);
        last = piece;
        if (++stage == shape.stages)
            stage = 0, parity ^= 1;
    }
    __syncthreads();
    add_products(&shape, &last, products, d_gamma);
}

extern "C" size_t chunk_state_bulk_workspace(const struct chunk_state_args *args, bool backward)
{
    const struct flat flat = flat_of(args);
    if (!backward || flat.columns == 0)
        return 0;
    const unsigned threads = args->config.threads != 0 ? (unsigned)args->config.threads : 32; /* few: many parts */
    return backward_workspace(args, cut_of(&flat, threads * 4).parts);
}

extern "C" cudaError_t chunk_state_bulk_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct pieces_shape, bool, const void *, const float *, const void *, const float *, void *,
                         float *, float *) = args->storage == FLOAT32 ? bulk_backward<FLOAT32>
                                             : args->storage == BF16  ? bulk_backward<BF16>
                                                                      : bulk_backward<FP16>;
    struct pieces_shape shape;
    struct backward_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, 0, stream, &done);
    if (!done)
        error = pieces_shape(args, (const void *)kernel, 256, args->storage == FLOAT32 ? 3 : 2, 2,
                             2 * STEPS * sizeof(float), &shape);
    if (!done && error == cudaSuccess)
        error = backward_space(args, shape.cut.parts, chunk_state_bulk, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    const unsigned rounds = (shape.items - 1) / shape.blocks + 1;
    kernel<<<(shape.items - 1) / rounds + 1, shape.threads, shape.shared, stream>>>(
        shape, args->exclusive, space.states, args->gamma, args->d_h_out, args->d_final_state, args->d_h_local,
        space.d_gamma, args->d_initial_state);
    error = cudaGetLastError();
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
