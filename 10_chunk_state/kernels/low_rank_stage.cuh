/* SPDX-License-Identifier: MIT */
/* low_rank_stage.cuh - the common part of low_rank.cu, low_rank_backward.cu, mma.cu, wgmma.cu and plain.cu: which
   columns a block has, what lies where in a stage of shared memory, and the walk over the stages. A stage has h_local's
   columns, W, Y and gamma, one row behind the other; rows that are not there are zeros. */
#ifndef LOW_RANK_STAGE_CUH
#define LOW_RANK_STAGE_CUH

#include "../../common/cuda/named_barrier.h"

#include "chunk_range.cuh"
#include "load_store.cuh"
#include "low_rank_plan.h"

/* The same number, which the compiler cannot see through: so it keeps it in a register, where otherwise it might
   compute it again in each chunk. All lanes of a warp call it together. */
static __device__ __forceinline__ unsigned opaque(unsigned value)
{
    return __shfl_sync(0xFFFFFFFFu, value, threadIdx.x % 32);
}

/* The barrier of all warps of a block. Producers and consumers come to it at different places of the code, so that it
   is a named one. */
template <int threads>
static __device__ __forceinline__ void barrier_all(void)
{
    named_barrier_sync(1, threads);
}

/* Where a block is: of its head, the row of chunk 0 in (batch, chunks, heads), and how many chunks there are; and its
   first column. */
struct low_rank_block {
    size_t head, zero, chunks;
    unsigned start;
};

/* Block (batch * heads + head) * slices + slice. Packed sequences stand in place of batches. */
static __device__ __forceinline__ struct low_rank_block low_rank_block_of(const struct low_rank_plan *plan)
{
    const size_t head = blockIdx.x / plan->slices;
    const struct chunk_range range = chunk_range_of(plan->starts, head / plan->heads, plan->chunks);
    const struct low_rank_block block = {head, range.first * plan->heads + head % plan->heads, range.count,
                                         blockIdx.x % plan->slices * BLOCK_COLUMNS};
    return block;
}

/* Whether the state has this row and the block's column. */
static __device__ __forceinline__ bool in_bounds(const struct low_rank_plan *plan, struct low_rank_block block, int row,
                                                 int column)
{
    return row < plan->dk && block.start + column < plan->dv;
}

/* Where the parts of a stage begin, in bytes: h_local, W, Y, gamma, room for p, and for W and Y as they come. */
struct low_rank_stage {
    unsigned x, w, y, gamma, p, raw;
};

static __device__ __forceinline__ struct low_rank_stage low_rank_stage_of(const struct low_rank_plan *plan)
{
    const unsigned w = plan->x_bytes, y = w + plan->w_bytes, gamma = y + plan->w_bytes;
    const unsigned p = gamma + plan->gamma_bytes;
    const struct low_rank_stage stage = {0, w, y, gamma, p, p + plan->padded * BLOCK_COLUMNS * (unsigned)sizeof(float)};
    return stage;
}

/* Where a warp is on its way round the stages: which one is the current one. */
struct stages {
    char *current;
    int bytes, count, which;
};

static __device__ __forceinline__ struct stages stages_of(const struct low_rank_plan *plan, char *memory)
{
    const struct stages stages = {memory, (int)opaque(plan->stage_bytes), (int)opaque(plan->stages), 0};
    return stages;
}

static __device__ __forceinline__ void stages_next(struct stages *stages)
{
    const bool last = ++stages->which == stages->count;
    stages->current += last ? (1 - stages->count) * stages->bytes : stages->bytes;
    stages->which = last ? 0 : stages->which;
}

/* All threads: what no copy will fill becomes 0, once for all. */
static __device__ __forceinline__ void stages_clear(const struct low_rank_plan *plan, char *stages)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < plan->stages * plan->stage_bytes / 16; i += blockDim.x)
        ((float4 *)stages)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
}

#endif
