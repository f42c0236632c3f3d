/* copy.cu - h_local to h_out and nothing else: 16 bytes a thread. No kernel of the chapter should be faster, because
   each moves at least these bytes. With the hints of stored.cuh it was slower: 264 us in place of 255 at a batch of 8
   with 128 chunks and 32 heads of 64 x 64 (an H200, float32). */
#include <cuda_runtime.h>

#include "kernels.h"

static __global__ void copy(size_t count, const float4 *__restrict__ from, float4 *__restrict__ to)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

/* What is left behind the last 16 bytes stays uncopied: this is a time to compare with, not a result. */
extern "C" cudaError_t chunk_state_copy(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat flat = flat_of(args);
    const size_t count = flat.batch * flat.chunks * flat.columns * dtype_bytes(args->dtype) / sizeof(float4);
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (done || count == 0)
        return error;
    if ((count + 511) / 512 > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    copy<<<(unsigned)((count + 511) / 512), 512, 0, stream>>>(count, (const float4 *)args->h_local,
                                                              (float4 *)args->h_out);
    return cudaGetLastError();
}
