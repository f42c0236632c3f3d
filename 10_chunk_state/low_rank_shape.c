/* low_rank_shape.c - see chunk_state.h */
#include "chunk_state.h"

/* The largest of 16, 8, 4 and 2 bytes that divides `bytes`. */
static int unit_of(size_t bytes)
{
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
}

/* The next so many bytes of a stage. */
static unsigned place(unsigned *end, size_t bytes)
{
    const unsigned at = *end;
    *end += (unsigned)((bytes + 15) / 16 * 16);
    return at;
}

cudaError_t low_rank_shape_of(const struct chunk_state_args *args, bool backward, struct low_rank_shape *shape)
{
    const size_t bytes = storage_bytes(args->storage), slices = (args->dv + COLUMNS - 1) / COLUMNS;
    const size_t padded = args->rank <= 4 ? (args->rank + 3) / 4 * 4 : (args->rank + 7) / 8 * 8;
    const size_t blocks = args->batch * args->heads * slices, rows = args->dk <= 64 ? 64 : args->dk <= 128 ? 128 : 256;
    int device, limit = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess)
        return error;
    if (blocks > 0x7FFFFFFF || args->dv > 1 << 27 || args->dk > CHUNK_STATE_MAX_ROWS ||
        args->config.stages > LOW_RANK_MAX_STAGES)
        return cudaErrorInvalidValue;
    *shape = (struct low_rank_shape){
        .chunks = args->chunks,
        .heads = args->heads,
        .dv = args->dv,
        .dk = (int)args->dk,
        .rank = (int)args->rank,
        .decays = (int)args->decays,
        .slices = (int)slices,
        .rows = (int)rows,
        .padded = (int)padded,
        .stride = args->rank == 0 ? 0 : (int)(((padded * bytes + 15) / 16 | 1) * 16 / bytes),
        .x_unit = unit_of(args->dv * bytes),
        .w_unit = unit_of(args->rank * bytes),
        .limit = (size_t)limit - 2048, /* the kernels' own few bytes count, too */
        .blocks = (unsigned)blocks,
    };
    const int raw_unit = unit_of(args->dk * args->rank * bytes);
    shape->raw_unit = shape->w_unit == 2 && raw_unit != 2 ? raw_unit : 0;
    const size_t x = rows * (size_t)X_STRIDE(args->storage) * bytes, w = rows * (size_t)shape->stride * bytes;
    const size_t p = padded * COLUMNS * sizeof(float), raw = shape->raw_unit != 0 ? args->dk * args->rank * bytes : 0;
    unsigned end = 0;
    shape->at.x = place(&end, x);
    shape->at.states = place(&end, backward ? x : 0);
    shape->at.d = args->storage == FLOAT32 ? shape->at.x : end;
    if (args->storage != FLOAT32)
        place(&end, backward ? rows * X_STRIDE(FLOAT32) * sizeof(float) : 0);
    shape->at.w = place(&end, w);
    shape->at.y = place(&end, w);
    shape->at.gamma = place(&end, rows * sizeof(float));
    shape->at.p = place(&end, p);
    shape->at.q = place(&end, backward ? p : 0);
    shape->at.raw_w = place(&end, raw);
    shape->at.raw_y = place(&end, raw);
    shape->at.end = end;
    const size_t fit = shape->limit / end, most = backward ? LOW_RANK_MAX_STAGES : 6;
    const size_t wanted = args->config.stages != 0 ? (size_t)args->config.stages : most;
    shape->stages = args->config.stages != 0 && wanted > fit ? 0 : (int)(fit < wanted ? fit : wanted);
    return cudaSuccess;
}
