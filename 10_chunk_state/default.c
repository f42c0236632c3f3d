/* default.c - which kernel for which shape and chip. Measured on an H200:

   - with W and Y: low_rank;
   - where the copy engine takes the shape (sm_90, dv a multiple of 8): split, if a chunk of all batches has fewer slices
     than half of the blocks that the chip holds, so that most of it would be idle; else bulk;
   - the rest: ahead, with few chunks on their way; a column a thread where dv is no multiple of 4. */
#include "chunk_state.h"

/* Whether the copy engine takes it, and if so, whether slices are few. */
static bool is_for_pieces(const struct chunk_state_args *args, bool *few)
{
    int device, major = 0, multiprocessors = 0;
    const struct flat flat = flat_of(args);
    if (args->dv % PIECES_COLUMNS_OF != 0 || LINREC_ARCH < 90 || flat.columns > 0x7FFFFFFF ||
        cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess || major < 9 ||
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return false;
    const struct cut cut = cut_of(&flat, 512);
    const size_t items = flat.batch * cut.slices;
    *few = items <= (size_t)multiprocessors / 2;
    return items <= 0x7FFFFFFF;
}

/* Launches `launch` with its own choice of the configuration. */
static cudaError_t run(chunk_state_launcher *launch, const struct chunk_state_args *args, int threads, int stages,
                       cudaStream_t stream)
{
    struct chunk_state_args chosen = *args;
    chosen.config = (struct linrec_config){.threads = threads, .stages = stages};
    return launch(&chosen, stream);
}

cudaError_t chunk_state_forward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const bool halves = args->storage != FLOAT32;
    bool few = false;
    if (args->rank != 0)
        return run(chunk_state_low_rank, args, 0, 0, stream);
    if (!is_for_pieces(args, &few))
        return run(chunk_state_ahead, args, 0, 0, stream);
    if (few && args->chunks >= 4 * STEPS && args->workspace != NULL)
        return run(chunk_state_split, args, 128, halves ? 8 : 6, stream);
    return run(chunk_state_bulk, args, 256, 3, stream);
}

cudaError_t chunk_state_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    bool few = false;
    if (args->rank != 0)
        return run(chunk_state_low_rank_backward, args, 0, 0, stream);
    if (!is_for_pieces(args, &few))
        return run(chunk_state_registers_backward, args, 0, 0, stream);
    return run(chunk_state_bulk_backward, args, args->storage != FLOAT32 ? 256 : 128, args->storage != FLOAT32 ? 2 : 3,
               stream);
}

size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward)
{
    bool few = false;
    if (args->rank != 0)
        return chunk_state_low_rank_workspace(args, backward);
    if (!is_for_pieces(args, &few))
        return chunk_state_registers_workspace(args, backward);
    struct chunk_state_args narrow = *args; /* more parts of d_gamma, if that differs */
    narrow.config = (struct linrec_config){.threads = 128};
    return backward ? chunk_state_bulk_workspace(&narrow, true) : chunk_state_split_workspace(args, false);
}
