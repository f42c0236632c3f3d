/* bulk.cu - ahead.cu, but the copy engine brings the next chunks, into stages of shared memory, and the blocks stay.
   What is on its way holds no registers, so a block can have much on its way; a few blocks are enough, and each reads
   some KB in a row instead of some bytes in many places.

       copy engine   piece 0 | piece 1 | piece 2 | piece 3 | piece 4 ...       one stage each, as soon as one is free
       threads                 piece 0           | piece 1           | ...    x from the stage, h in registers

   A block takes items (batch, slice) b, b + gridDim.x, ...; the blocks walk side by side through the same chunks. */
#include <cuda_runtime.h>

#include "pieces.cuh"

/* Asks for a piece and its decays, if there is one. All threads call it. */
template <int storage>
static __device__ __forceinline__ void send(const void *h_local, const float *gamma, const struct pieces_shape *shape,
                                            const struct piece *piece, char *stage, uint64_t *arrived)
{
    if (piece->item < shape->items) {
        piece_load<storage, 1>(h_local, NULL, shape, piece, stage, arrived);
        decays_load(gamma, shape, piece, stage);
    }
    __pipeline_commit();
}

/* Each thread has four columns of the slice. */
template <int storage>
static __global__ void __launch_bounds__(PIECES_MAX_THREADS, 1)
    bulk_forward(struct pieces_shape shape, bool exclusive, const void *__restrict__ h_local,
                 const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                 float *__restrict__ final_state)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    const int own = threadIdx.x * 4, decay = decay_of(&shape);
    const size_t row_len = shape.flat.columns;
    struct piece piece = piece_of(&shape, blockIdx.x, 0, shape.flat.chunks), later = piece;
    float h[4];

    barriers_init(arrived, shape.stages);
    for (int s = 0; s < shape.stages; s++) {
        send<storage>(h_local, gamma, &shape, &later, stages + s * shape.stage_bytes, &arrived[s]);
        piece_next(&shape, &later);
    }
    decays_wait(shape.stages - 1);
    __syncthreads(); /* the first piece's decays are there for all */
    for (int stage = 0, parity = 0; piece.item < shape.items; piece_next(&shape, &piece)) {
        char *const from = stages + stage * shape.stage_bytes;
        const bool inside = own < piece.columns;
        if (piece.first == 0)
            state_read(initial_state, piece.state + own, inside, h);
        mbarrier_wait(&arrived[stage], parity);
        float x[STEPS][4], decays[STEPS];
        piece_take<storage>(&shape, &piece, from, inside ? own : 0, x);
        decays_take(&shape, &piece, from, inside ? decay : 0, decays);
        copy_engine_fence(); /* the piece was read before its stage is filled again */
        decays_wait(shape.stages - 2);
        __syncthreads(); /* ... and the next piece's decays are there for all */
        send<storage>(h_local, gamma, &shape, &later, from, &arrived[stage]);
        piece_next(&shape, &later);

        char *const to = (char *)h_out + (piece.row * row_len + piece.start) * stored_bytes(storage);
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            float out[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float before = h[c];
                h[c] = decays[s] * h[c] + x[s][c];
                out[c] = exclusive ? before : h[c];
            }
            if (s < piece.chunks && inside)
                write4<storage>(to, s * row_len + own, out);
        }
        if (piece.first + STEPS >= shape.flat.chunks && final_state != NULL && inside)
            write4<FLOAT32>(final_state, piece.state + own, h);
        if (++stage == shape.stages)
            stage = 0, parity ^= 1;
    }
}

extern "C" cudaError_t chunk_state_bulk(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct pieces_shape, bool, const void *, const float *, const float *, void *, float *) =
        args->storage == FLOAT32 ? bulk_forward<FLOAT32>
        : args->storage == BF16  ? bulk_forward<BF16>
                                 : bulk_forward<FP16>;
    struct pieces_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = pieces_shape(args, (const void *)kernel, 256, 3, 1, 0, &shape);
    if (done || error != cudaSuccess)
        return error;
    const unsigned rounds = (shape.items - 1) / shape.blocks + 1;
    kernel<<<(shape.items - 1) / rounds + 1, shape.threads, shape.shared, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->initial_state, args->h_out, args->final_state);
    return cudaGetLastError();
}
