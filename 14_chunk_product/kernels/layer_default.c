/* SPDX-License-Identifier: MIT */
/* layer_default.c - of 16 bits wgmma, chunk or stretches, where the chip has them and the sizes are even enough; else
   loop. Where wgmma runs it was the fastest: 130 us where chunk took 344 (an H200, 8 x 4096 steps of 32 heads with
   states of 64 x 128, bf16).

   stretches does all that chunk does, and multiplies x and B once more. With n stretches of each head a block has n
   times fewer chunks, which take longer where two blocks share a multiprocessor. On the same chip it took 516 us where
   chunk took 2245 with eight stretches (1 x 32768 steps of 32 heads), and with two of them 103 where chunk took 115
   (8 x 2048 steps of 16 heads, states of 64 x 64).

   Packed sequences have lengths that the host does not know. The longest one may have nearly all steps, and with chunk
   its blocks would work when all others have ended. No stretch has more than its share of all steps; a sequence that is
   no longer than that is not cut, and costs nothing more. */
#include "../../common/cuda/gpu_info.h"
#include "layer_kernels.h"

static bool takes_products(const struct layer_args *args)
{
    return args->dtype != FLOAT32 && args->dk % 8 == 0 && args->dv % 8 == 0 && args->dk <= 128;
}

static bool is_cut(const struct layer_args *args)
{
    return args->num_seqs != 0 || args->batch * layer_blocks_of_sequence(args) <= LAYER_BLOCKS / 2;
}

size_t layer_default_workspace(const struct layer_args *args)
{
    return layer_wgmma_takes(args) || (takes_products(args) && is_cut(args)) ? layer_cut_workspace(args) : 0;
}

cudaError_t layer_default(const struct layer_args *args, cudaStream_t stream)
{
    if (layer_wgmma_takes(args)) {
        const cudaError_t error = layer_wgmma(args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    if (takes_products(args)) {
        const cudaError_t error = is_cut(args) ? layer_stretches(args, stream) : layer_chunk(args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    return layer_loop(args, stream);
}

/* Whether the gradients of this type and these sizes are chunk's on this chip, which has to hold its tiles. */
static cudaError_t is_chunk_backward(const struct layer_args *args, bool *is)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    *is = takes_products(args) && gpu.arch >= 80 && layer_chunk_backward_shared(args) <= gpu.shared_limit;
    return error;
}

size_t layer_default_backward_workspace(const struct layer_args *args)
{
    bool chunk;
    if (is_chunk_backward(args, &chunk) != cudaSuccess)
        return 0;
    return (chunk ? layer_chunk_backward_workspace : layer_loop_backward_workspace)(args);
}

cudaError_t layer_default_backward(const struct layer_backward_args *args, cudaStream_t stream)
{
    bool chunk;
    const cudaError_t error = is_chunk_backward(&args->layer, &chunk);
    return error != cudaSuccess ? error : (chunk ? layer_chunk_backward : layer_loop_backward)(args, stream);
}
