/* SPDX-License-Identifier: MIT */
/* low_rank_plan.c - see low_rank_plan.h */
#include "low_rank_plan.h"

/* The largest of 16, 8, 4 and 2 bytes that divides `bytes`. */
static int vector_of(size_t bytes)
{
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
}

/* As many stages as --config says, or fit beside `apart` bytes of shared memory. */
static void count_stages(const struct chunk_state_args *args, size_t apart, struct low_rank_plan *plan)
{
    const size_t fit = plan->limit < apart ? 0 : (plan->limit - apart) / plan->stage_bytes;
    const size_t wanted = args->config.stages != 0 ? (size_t)args->config.stages : 6;
    plan->stages = args->config.stages != 0 && wanted > fit ? 0 : (int)(fit < wanted ? fit : wanted);
}

/* Elements from row to row of W and Y (kernels.h). */
static int stride_of(size_t padded, size_t bytes)
{
    return (int)(((padded * bytes + 15) / 16 | 1) * 16 / bytes);
}

/* That GPU, or the current one. */
static cudaError_t gpu_of(const struct gpu_info *of_gpu, struct gpu_info *gpu)
{
    if (of_gpu == NULL)
        return gpu_info_read(gpu);
    *gpu = *of_gpu;
    return cudaSuccess;
}

cudaError_t low_rank_plan_of(const struct chunk_state_args *args, const struct gpu_info *of_gpu, size_t rows,
                             struct low_rank_plan *plan)
{
    const size_t bytes = dtype_bytes(args->dtype), slices = (args->dv + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    const size_t padded = args->rank <= 4 ? (args->rank + 3) / 4 * 4 : (args->rank + 7) / 8 * 8;
    const size_t blocks = chunk_state_num_seqs(args) * args->heads * slices;
    struct gpu_info gpu;
    const cudaError_t error = gpu_of(of_gpu, &gpu);
    if (error != cudaSuccess)
        return error;
    if (blocks > 0x7FFFFFFF || args->dv > 1 << 27 || args->dk > CHUNK_STATE_MAX_ROWS ||
        args->config.stages > LOW_RANK_MAX_STAGES)
        return cudaErrorInvalidValue;
    *plan = (struct low_rank_plan){
        .chunks = args->chunks,
        .heads = args->heads,
        .dv = args->dv,
        .dk = (int)args->dk,
        .rank = (int)args->rank,
        .decays = (int)args->decays,
        .slices = (int)slices,
        .padded = (int)padded,
        .stride = args->rank == 0 ? 0 : stride_of(padded, bytes),
        .x_vector = vector_of(args->dv * bytes),
        .w_vector = vector_of(args->rank * bytes),
        .full = args->dk == rows && args->rank == padded && args->dv % BLOCK_COLUMNS == 0,
        .limit = gpu.shared_limit,
        .blocks = (unsigned)blocks,
        .starts = args->starts,
    };
    plan->x_bytes = (unsigned)(rows * X_STRIDE * bytes);
    plan->w_bytes = (unsigned)(rows * (size_t)plan->stride * bytes);
    plan->gamma_bytes = (unsigned)(rows * sizeof(float));
    plan->raw_vector = vector_of(args->dk * args->rank * bytes);
    if (plan->w_vector == 2 && plan->raw_vector != 2)
        plan->raw_bytes = (unsigned)((args->dk * args->rank * bytes + 15) / 16 * 16);
    plan->stage_bytes = plan->x_bytes + 2 * plan->w_bytes + plan->gamma_bytes +
                        (unsigned)(padded * BLOCK_COLUMNS * sizeof(float)) + 2 * plan->raw_bytes;
    count_stages(args, 0, plan);
    return cudaSuccess;
}

cudaError_t low_rank_back_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu,
                                  struct low_rank_plan *plan)
{
    const size_t rows = args->dk <= 64 ? 64 : args->dk <= 128 ? 128 : 256, bytes = dtype_bytes(args->dtype);
    const cudaError_t error = low_rank_plan_of(args, gpu, rows, plan);
    if (error != cudaSuccess)
        return error;
    const size_t of_state = rows * BACK_STRIDE(args->dtype, rows);
    plan->x_bytes = (unsigned)(of_state * bytes);
    plan->stage_bytes =
        (unsigned)(of_state * (args->dtype == FLOAT32 ? 2 * bytes : 2 * bytes + sizeof(float)) + 2 * plan->w_bytes +
                   plan->gamma_bytes + 2 * plan->padded * BLOCK_COLUMNS * sizeof(float) + 2 * plan->raw_bytes);
    count_stages(args, 0, plan);
    plan->stages = plan->stages == 2 ? 1 : plan->stages;
    return plan->stages != 0 ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t mma_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu, struct low_rank_plan *plan)
{
    const size_t rows = mma_rows(args);
    const size_t ranks = mma_ranks(args);
    const cudaError_t error = args->dk > MMA_MAX_ROWS ? cudaErrorInvalidValue : low_rank_plan_of(args, gpu, rows, plan);
    if (error != cudaSuccess)
        return error;
    plan->padded = (int)ranks;
    plan->stride = stride_of(ranks, dtype_bytes(args->dtype));
    plan->w_bytes = (unsigned)(rows * (size_t)plan->stride * dtype_bytes(args->dtype));
    plan->stage_bytes = plan->x_bytes + 2 * plan->w_bytes + plan->gamma_bytes + 2 * plan->raw_bytes;
    count_stages(args, MMA_PARTS_BYTES(ranks), plan);
    return plan->stages >= 2 ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t wgmma_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu, struct low_rank_plan *plan)
{
    const size_t rows = mma_rows(args);
    const cudaError_t error = args->dk > MMA_MAX_ROWS ? cudaErrorInvalidValue : low_rank_plan_of(args, gpu, rows, plan);
    if (error != cudaSuccess)
        return error;
    plan->padded = plan->stride = 64;
    plan->w_bytes = (unsigned)rows * 128;
    plan->stage_bytes = (plan->x_bytes + 2 * plan->w_bytes + plan->gamma_bytes + 1023) / 1024 * 1024;
    count_stages(args, 0, plan);
    return plan->stages >= 2 ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t mma_sums_plan_of(const struct chunk_state_args *args, const struct gpu_info *of_gpu,
                             struct mma_sums_plan *plan)
{
    const size_t rows = mma_rows(args);
    const size_t ranks = mma_ranks(args), bytes = dtype_bytes(args->dtype);
    const size_t chunks = args->batch * args->chunks * args->heads;
    struct gpu_info gpu;
    const cudaError_t error = gpu_of(of_gpu, &gpu);
    if (error != cudaSuccess)
        return error;
    if (args->dk > MMA_MAX_ROWS || chunks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    *plan = (struct mma_sums_plan){
        .dv = args->dv,
        .dk = (int)args->dk,
        .rank = (int)args->rank,
        .decays = (int)args->decays,
        .slices = (int)((args->dv + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS),
        .rows = (int)rows,
        .padded = (int)ranks,
        .x_vector = vector_of(args->dv * bytes),
        .d_vector = vector_of(args->dv * sizeof(float)),
        .w_vector = vector_of(args->rank * bytes),
        .full = args->dk == rows && args->rank == ranks && args->dv % SUM_COLUMNS == 0,
        .chunks = (unsigned)chunks,
    };
    plan->d = (unsigned)(rows * SUM_STRIDE * bytes);
    plan->w = plan->d + (unsigned)(rows * SUM_STRIDE * sizeof(float));
    plan->y = plan->w + (unsigned)(rows * (ranks + SUM_PADDING) * bytes);
    plan->p = plan->y + (plan->y - plan->w);
    plan->q = plan->p + (unsigned)(ranks * SUM_STRIDE * sizeof(float));
    plan->bytes = plan->q + (plan->q - plan->p);
    return plan->bytes <= gpu.shared_limit ? cudaSuccess : cudaErrorNotSupported;
}
