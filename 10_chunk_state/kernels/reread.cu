/* reread.cu - launches.cu in one launch: a thread goes through all chunks. It writes the state in each step and loads
   it again in the next one, as the loop does, although it is the only one that has written it.

       thread of element i:   x0, initial -> h0 | x1, h0 -> h1 | x2, h1 -> h2 | ...      in one column of h_out */
#include <cuda_runtime.h>

#include "kernels.h"

/* Thread i goes through the chunks of element i of (batch, columns). h_out is volatile: what is loaded from it is what
   was stored there, and the compiler may not keep it in a register. */
static __global__ void reread_forward(struct flat flat, bool exclusive, const float *__restrict__ h_local,
                                      const float *__restrict__ gamma, const float *initial_state,
                                      volatile float *h_out, float *final_state)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t column = i % flat.columns, chunk = i / flat.columns * flat.chunks;
    const float initial = initial_state != NULL ? initial_state[i] : 0.0f;
    size_t at = chunk * flat.columns + column, decay = chunk * flat.decays + column / flat.per_decay, last = at;
    float after = initial;
    for (size_t k = 0; k < flat.chunks; k++, at += flat.columns, decay += flat.decays) {
        if (exclusive)
            h_out[at] = after;
        const float h = exclusive ? h_out[at] : k == 0 ? initial : h_out[last];
        after = gamma[decay] * h + h_local[at];
        if (!exclusive)
            h_out[at] = after;
        last = at;
    }
    if (final_state != NULL)
        final_state[i] = after;
}

extern "C" cudaError_t chunk_state_reread(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat flat = flat_of(args);
    const size_t blocks = (flat.batch * flat.columns + 255) / 256;
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (done)
        return error;
    if (args->dtype != FLOAT32 || blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    reread_forward<<<(unsigned)blocks, 256, 0, stream>>>(flat, args->exclusive, (const float *)args->h_local,
                                                         args->gamma, args->initial_state, (float *)args->h_out,
                                                         args->final_state);
    return cudaGetLastError();
}
