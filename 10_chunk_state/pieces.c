/* pieces.c - see chunk_state.h */
#include "chunk_state.h"

#include "../common/arch.h"

struct cut cut_of(const struct flat *flat, unsigned most)
{
    struct cut cut = {0};
    if (flat->columns == 0 || flat->columns > 0x7FFFFFFF)
        return cut;
    cut.columns = (unsigned)flat->columns;
    cut.per_decay = (unsigned)flat->per_decay;
    if (cut.per_decay <= most) {
        cut.parts = 1;
        cut.unit = cut.width = most / cut.per_decay * cut.per_decay;
        cut.slices = (cut.columns - 1) / cut.width + 1;
    } else {
        const unsigned least = (cut.per_decay - 1) / most + 1;
        cut.width = ((cut.per_decay - 1) / least / PIECES_COLUMNS_OF + 1) * PIECES_COLUMNS_OF;
        cut.parts = (cut.per_decay - 1) / cut.width + 1;
        cut.unit = cut.per_decay;
        cut.slices = (unsigned)flat->decays * cut.parts;
    }
    return cut;
}

static cudaError_t attribute(int *value, enum cudaDeviceAttr what)
{
    int device;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(value, what, device) : error;
}

cudaError_t pieces_shape(const struct chunk_state_args *args, const void *kernel, int threads, int stages,
                         int num_arrays, size_t own_bytes, struct pieces_shape *shape)
{
    int major = 0, limit = 0, multiprocessors = 0, resident = 0;
    cudaError_t error = attribute(&major, cudaDevAttrComputeCapabilityMajor);
    if (error == cudaSuccess)
        error = attribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (error == cudaSuccess)
        error = attribute(&multiprocessors, cudaDevAttrMultiProcessorCount);
    if (error != cudaSuccess)
        return error;
    if (major < 9 || LINREC_ARCH < 90)
        return cudaErrorNotSupported;

    shape->threads = args->config.threads != 0 ? args->config.threads : threads;
    shape->stages = args->config.stages != 0 ? args->config.stages : stages;
    shape->flat = flat_of(args);
    shape->cut = cut_of(&shape->flat, (unsigned)shape->threads * 4);
    if (shape->flat.batch * shape->cut.slices > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    shape->items = (unsigned)(shape->flat.batch * shape->cut.slices);
    if (args->dv % PIECES_COLUMNS_OF != 0 || shape->cut.slices == 0 || shape->threads > PIECES_MAX_THREADS ||
        shape->threads % 32 != 0 || shape->threads < 32 || shape->stages > PIECES_MAX_STAGES)
        return cudaErrorInvalidValue;

    const size_t element = storage_bytes(args->storage), own = own_bytes * (size_t)shape->threads;
    const size_t room = (size_t)limit - 2048 - own; /* and the kernel's few own bytes */
    const size_t decays = shape->cut.parts == 1 ? shape->cut.width / shape->cut.per_decay : 1;
    shape->piece_bytes = STEPS * shape->cut.width * element;
    shape->decays_at = shape->piece_bytes * (size_t)num_arrays;
    shape->stage_bytes = shape->decays_at + STEPS * decays * sizeof(float);
    if (shape->stages == 0)
        shape->stages =
            room / shape->stage_bytes < PIECES_MAX_STAGES ? (int)(room / shape->stage_bytes) : PIECES_MAX_STAGES;
    shape->shared = (size_t)shape->stages * shape->stage_bytes + own;
    if (shape->stages < 2 || shape->shared > room + own)
        return cudaErrorNotSupported;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limit - 2048);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, shape->threads, shape->shared);
    shape->blocks = (unsigned)(resident * multiprocessors);
    return error == cudaSuccess && resident == 0 ? cudaErrorNotSupported : error;
}
