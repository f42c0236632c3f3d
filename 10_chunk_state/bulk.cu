/* bulk.cu - ahead.cu, but the copy engine brings the next chunks, into stages of shared memory, and the blocks stay. What
   is on its way holds no registers, so a block can have much on its way; a few blocks are enough, and each reads some
   KB in a row instead of some bytes in many places.

       copy engine   piece 0 | piece 1 | piece 2 | piece 3 | piece 4 ...       one stage each, as soon as one is free
       threads                 piece 0           | piece 1           | ...    x from the stage, h in registers

   A block takes items (batch, slice) b, b + gridDim.x, ...; the blocks walk side by side through the same chunks. */
#include <cuda_runtime.h>

#include "pieces.cuh"

/* Piece number p of the block. */
static __device__ __forceinline__ struct piece piece_number(const struct pieces_shape *shape, unsigned pieces,
                                                            unsigned p)
{
    return piece_of(&shape->flat, &shape->cut, blockIdx.x + (size_t)(p / pieces) * gridDim.x, (size_t)(p % pieces) * STEPS,
                    shape->flat.chunks);
}

/* Each thread has four columns of the slice. pieces: of an item. */
template <int storage>
static __global__ void __launch_bounds__(PIECES_MAX_THREADS)
    bulk_forward(struct pieces_shape shape, unsigned pieces, bool exclusive, const void *__restrict__ h_local,
                 const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                 float *__restrict__ final_state)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    const unsigned count = (unsigned)((shape.items - blockIdx.x - 1) / gridDim.x + 1) * pieces;
    const int own = threadIdx.x * 4;
    float h[4], g[STEPS], next_g[STEPS];

    struct piece next = piece_number(&shape, pieces, 0);
    piece_decays(gamma, &shape.flat, &shape.cut, &next, own, next_g);
    if (threadIdx.x == 0) {
        for (int s = 0; s < shape.stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (unsigned p = 0; p < count && p < (unsigned)shape.stages; p++) {
            const struct piece piece = piece_number(&shape, pieces, p);
            mbarrier_expect(&arrived[p], piece.chunks * piece.columns * (unsigned)stored_bytes(storage));
            piece_load<storage>(h_local, &shape.flat, &shape.cut, &piece, stages + p * shape.stage_bytes, &arrived[p]);
        }
    }
    __syncthreads(); /* the barriers are there for all */
    for (unsigned p = 0, stage = 0, parity = 0; p < count; p++) {
        const struct piece piece = next;
        const bool inside = own < piece.columns;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            g[s] = next_g[s];
        if (p + 1 < count) { /* decays come through registers, a piece ahead */
            next = piece_number(&shape, pieces, p + 1);
            piece_decays(gamma, &shape.flat, &shape.cut, &next, own, next_g);
        }
        if (p % pieces == 0)
            state_read(initial_state, piece.state + own, inside, h);
        mbarrier_wait(&arrived[stage], parity);
        const char *const from = stages + stage * shape.stage_bytes;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            if (s < piece.chunks && inside) {
                float x[4], out[4];
                read4<storage>(from, s * shape.cut.width + own, x);
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const float before = h[c];
                    h[c] = g[s] * h[c] + x[c];
                    out[c] = exclusive ? before : h[c];
                }
                write4<storage>(h_out, (piece.row + s) * shape.flat.columns + piece.start + own, out);
            }
        if ((p + 1) % pieces == 0 && final_state != NULL && inside)
            write4<FLOAT32>(final_state, piece.state + own, h);
        copy_engine_fence(); /* the piece was read before its stage is filled again */
        __syncthreads();
        if (threadIdx.x == 0 && p + shape.stages < count) {
            const struct piece later = piece_number(&shape, pieces, p + shape.stages);
            mbarrier_expect(&arrived[stage], later.chunks * later.columns * (unsigned)stored_bytes(storage));
            piece_load<storage>(h_local, &shape.flat, &shape.cut, &later, stages + stage * shape.stage_bytes,
                                &arrived[stage]);
        }
        if (++stage == (unsigned)shape.stages)
            stage = 0, parity ^= 1;
    }
}

extern "C" cudaError_t chunk_state_bulk(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct pieces_shape, unsigned, bool, const void *, const float *, const float *, void *, float *) =
        args->storage == FLOAT32 ? bulk_forward<FLOAT32>
        : args->storage == BF16  ? bulk_forward<BF16>
                                 : bulk_forward<FP16>;
    struct pieces_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = pieces_shape(args, (const void *)kernel, args->storage == FLOAT32 ? 128 : 256, 0, 1, 0, &shape);
    if (done || error != cudaSuccess)
        return error;
    const size_t pieces = (args->chunks - 1) / STEPS + 1, rounds = (shape.items - 1) / shape.blocks + 1;
    if (pieces > 0x7FFFFFFF / rounds)
        return cudaErrorInvalidValue;
    kernel<<<(unsigned)((shape.items - 1) / rounds + 1), shape.threads, shape.shared, stream>>>(
        shape, (unsigned)pieces, args->exclusive, args->h_local, args->gamma, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
