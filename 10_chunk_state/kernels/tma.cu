/* tma.cu - prefetch.cu, but the copy engine brings the next chunks, into stages of shared memory.
   What is on its way holds no registers, so a block can have much on its way; a few blocks are enough, and each reads
   some KB in a row instead of some bytes in many places.

       copy engine   piece 0 | piece 1 | piece 2 | piece 3 | piece 4 ...       one stage each, as soon as one is free
       threads                 piece 0           | piece 1           | ...    x from the stage, h in registers

   A block has a slice of a batch, in all chunks; the blocks go side by side through the same chunks. */
#include <cuda_runtime.h>

#include "pieces.cuh"

template <int dtype>
static __global__ void __launch_bounds__(PIECES_MAX_THREADS, 1)
    tma_forward(struct pieces_shape shape, bool exclusive, const void *__restrict__ h_local,
                const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                float *__restrict__ final_state)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    const struct slice slice = slice_of<dtype, STEPS>(&shape, blockIdx.x);
    const size_t chunks = shape.flat.chunks, row_bytes = shape.flat.columns * stored_bytes(dtype);
    const size_t num_out = exclusive ? chunks - 1 : chunks; /* states after a chunk that are written */
    char *to = (char *)h_out + slice_at<dtype>(&shape, &slice, 0) + slice.own * stored_bytes(dtype);
    float h[OWN(dtype)];

    barriers_init(arrived, shape.stages, STEPS);
    for (int s = 0; s < shape.stages; s++)
        piece_send<dtype, STEPS, 1>(h_local, NULL, gamma, &shape, &slice, s * STEPS, stages + s * shape.stage_bytes,
                                    decays_place(&shape, stages, s), &arrived[s]);
    state_read<dtype>(initial_state, &slice, h);
    if (exclusive && slice.inside)
        write16<dtype>(to, h);
    to += exclusive ? row_bytes : 0;
    int stage = 0, parity = 0, place = 0;
    for (size_t first = 0; first < chunks; first += STEPS) {
        char *const from = stages + stage * shape.stage_bytes;
        uint4 x[STEPS];
        float decays[STEPS];
        mbarrier_wait(&arrived[stage], parity);
        piece_take<dtype, STEPS>(&shape, &slice, from, x);
        fence_proxy_async(); /* the piece was read before its stage is filled again */
        decays_wait(shape.stages - 1);
        __syncthreads(); /* ... and its decays are there for all */
        piece_send<dtype, STEPS, 1>(h_local, NULL, gamma, &shape, &slice, first + shape.stages * STEPS, from,
                                    decays_place(&shape, stages, place == 0 ? shape.stages : place - 1),
                                    &arrived[stage]);
        decays_take<STEPS>(&slice, decays_place(&shape, stages, place), decays);
        place = place == shape.stages ? 0 : place + 1;

        const int in = (int)piece_chunks<STEPS>(&shape, first);
        const int out = slice.inside ? (int)min(num_out - min(first, num_out), (size_t)STEPS) : 0;
#pragma unroll
        for (int s = 0; s < STEPS; s++, to += row_bytes) {
            if (s < in)
                state_step<dtype>(x[s], decays[s], h);
            if (s < out)
                write16<dtype>(to, h);
        }
        if (++stage == shape.stages)
            stage = 0, parity ^= 1;
    }
    state_write<dtype>(final_state, &slice, h);
}

extern "C" cudaError_t chunk_state_tma(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct pieces_shape, bool, const void *, const float *, const float *, void *, float *) =
        args->dtype == FLOAT32 ? tma_forward<FLOAT32>
        : args->dtype == BF16  ? tma_forward<BF16>
                               : tma_forward<FP16>;
    struct pieces_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = pieces_shape(args, (const void *)kernel, 128, 3, STEPS, 1, 0, 0, &shape);
    /* float32 takes a fourth stage, unless all blocks find room at the same time without it (measured on an H200) */
    if (!done && error == cudaSuccess && args->dtype == FLOAT32 && shape.items > shape.blocks)
        error = pieces_shape(args, (const void *)kernel, 128, 4, STEPS, 1, 0, 0, &shape);
    if (done || error != cudaSuccess)
        return error;
    kernel<<<shape.items, shape.threads, shape.shared, stream>>>(shape, args->exclusive, args->h_local, args->gamma,
                                                                 args->initial_state, args->h_out, args->final_state);
    return cudaGetLastError();
}
