/* SPDX-License-Identifier: MIT */
/* stages.cu - split.cu, in which memory has nothing to do while a block joins and stores. Here the next chunks are on their
   way meanwhile, by asynchronous copies (cp.async) into shared memory, and stay there until they are stored. Each thread
   has places of its own for its pieces, so it waits for its own copies, and no barrier is needed.

       stage 0   chunk 0: aggregate, join, store | chunk 3 arrives
       stage 1   chunk 1 arrives                 | chunk 1: aggregate, join, store | chunk 4 arrives
       stage 2   chunk 2 arrives ...                                                                                  */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_join.cuh"
#include "kernels.h"
#include "split_plan.h"
#include "steps.cuh"

enum { MAX_STAGES = 4 };

template <int dtype, int width, int rows>
static __device__ __forceinline__ void take(const char *from, unsigned words[])
{
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    if (bytes == 4) {
        words[0] = *(const unsigned *)from;
    } else if (bytes == 8) {
        const uint2 two = *(const uint2 *)from;
        words[0] = two.x, words[WORDS(dtype, width) - 1] = two.y;
    } else {
        const uint4 four = *(const uint4 *)from;
        const unsigned all[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int w = 0; w < WORDS(dtype, width); w++)
            words[w] = all[w];
    }
}

template <int dtype, int width, int rows>
static __device__ __forceinline__ void aggregate(const struct walk *walk, bool is_log, unsigned begins, int count,
                                                 const char *stage, const float *initial_state,
                                                 const struct place *place, float product[width], float y[width])
{
    const unsigned row = width * (dtype == FLOAT32 ? 4 : 2) * blockDim.x;
#pragma unroll
    for (int v = 0; v < width; v++)
        product[v] = 1.0f, y[v] = 0.0f;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        if (r < count) {
            unsigned words[4];
            float x[width], c[width];
            take<dtype, width, rows>(stage + r * row, words);
            unpack_channels<dtype, width>(words, x);
            take<dtype, width, rows>(stage + (rows + r) * row, words);
            unpack_coeffs<dtype, width>(words, is_log, c);
            const bool begins_here = begins >> r & 1;
            const bool alone = begins_here ? initial_state == NULL : r == 0; /* nothing comes into this step */
            if (begins_here)
                begin<width>(initial_state, walk, place, r, y);
#pragma unroll
            for (int v = 0; v < width; v++)
                y[v] = alone ? x[v] : y[v] * c[v] + x[v], product[v] *= c[v];
        }
    }
}

template <int dtype, int width, int rows>
static __device__ __forceinline__ void apply(const struct walk *walk, bool is_log, unsigned begins, unsigned ends,
                                             int count, const char *stage, const struct walked *outputs,
                                             const float *initial_state, float *final_state,
                                             const struct place *place, float y[width])
{
    const unsigned row = width * (dtype == FLOAT32 ? 4 : 2) * blockDim.x;
    char *y_at = element<dtype>(outputs, place->batch, place->position, place->channel);
#pragma unroll
    for (int r = 0; r < rows; r++, y_at += outputs->step) {
        if (r < count) {
            unsigned words[4];
            float x[width], c[width];
            take<dtype, width, rows>(stage + r * row, words);
            unpack_channels<dtype, width>(words, x);
            take<dtype, width, rows>(stage + (rows + r) * row, words);
            unpack_coeffs<dtype, width>(words, is_log, c);
            const bool alone = (begins >> r & 1) && initial_state == NULL; /* its coefficient is not used */
            if (begins >> r & 1)
                begin<width>(initial_state, walk, place, r, y);
#pragma unroll
            for (int v = 0; v < width; v++)
                y[v] = alone ? x[v] : y[v] * c[v] + x[v];
            store_channels<dtype, width>(y_at, y);
            if (ends >> r & 1)
                leave<width>(final_state, walk, place, r, y);
        }
    }
}

template <int width>
static __device__ __forceinline__ struct place place_of(const struct chunk *chunk, int rows)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return {chunk->batch, chunk->position + warp * rows, chunk->channel + lane * width};
}

template <int dtype, int width, int rows>
static __global__ void __launch_bounds__(MAX_WARPS * 32, 1)
    stages_forward(struct walk walk, struct split_plan plan, struct walked inputs, struct walked coeffs,
                   struct walked outputs, const float *__restrict__ initial_state, float *__restrict__ final_state,
                   struct chunk_space *space)
{
    extern __shared__ __align__(16) char stage_memory[];
    __shared__ struct block_totals<width> totals;
    __shared__ unsigned long long tickets[MAX_STAGES], later[2];
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    const int stages = plan.stages;
    const unsigned in_all = plan.num_chunks + (stages + 1) * gridDim.x; /* each block draws stages + 1 in vain */
    const unsigned stage_bytes = 2 * rows * bytes * blockDim.x;
    char *const own = stage_memory + threadIdx.x * bytes;
    unsigned long long drawn = 0; /* the latest, of thread 0 */

    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; s++)
            tickets[s] = draw_ticket(space);
        drawn = draw_ticket(space);
        for (int s = 0; s < stages; s++)
            check_ticket(space, tickets[s], in_all);
    }
    __syncthreads();
    const unsigned launch = (unsigned)(tickets[0] >> 32);
    unsigned numbers[MAX_STAGES];
#pragma unroll
    for (int s = 0; s < MAX_STAGES; s++)
        numbers[s] = s < stages ? (unsigned)tickets[s] : 0xFFFFFFFF;
#pragma unroll
    for (int s = 0; s < MAX_STAGES - 1; s++) {
        if (s < stages - 1) {
            if (numbers[s] < plan.num_chunks) {
                const struct chunk chunk = chunk_of<width>(&plan, space, numbers[s], launch);
                const struct place place = place_of<width>(&chunk, rows);
                request_steps<dtype, width, rows>(&inputs, &walk, &place, 0, stage_memory + s * stage_bytes);
                request_steps<dtype, width, rows>(&coeffs, &walk, &place, 0,
                                                  stage_memory + s * stage_bytes + stage_bytes / 2);
            }
            __pipeline_commit();
        }
    }
    int at = 0; /* the stage of this round */
    for (int round = 0; numbers[0] < plan.num_chunks; round++) {
        /* Ask for the chunk that comes into the stage of the round before. */
        const unsigned last = stages == 2 ? numbers[1] : stages == 3 ? numbers[2] : numbers[3];
        if (last < plan.num_chunks) {
            const struct chunk there = chunk_of<width>(&plan, space, last, launch);
            const struct place place = place_of<width>(&there, rows);
            char *const to = stage_memory + (at == 0 ? stages - 1 : at - 1) * stage_bytes;
            request_steps<dtype, width, rows>(&inputs, &walk, &place, 0, to);
            request_steps<dtype, width, rows>(&coeffs, &walk, &place, 0, to + stage_bytes / 2);
        }
        __pipeline_commit();
        const struct chunk chunk = chunk_of<width>(&plan, space, numbers[0], launch);
        const struct place place = place_of<width>(&chunk, rows);
        const long long left = walk.seq_len - place.position;
        const int count = place.channel >= walk.channels ? 0 : left < rows ? (int)left : rows; /* steps that there are */
        const char *const stage = own + at * stage_bytes;
        const unsigned begins = begins_among<rows>(&walk, place.position);
        const unsigned ends = final_state != NULL ? ends_among<rows>(&walk, place.position) : 0;
        if (threadIdx.x == 0) {
            later[round % 2] = check_ticket(space, drawn, in_all);
            drawn = draw_ticket(space);
        }
        if (stages == 2)
            __pipeline_wait_prior(1);
        else if (stages == 3)
            __pipeline_wait_prior(2);
        else
            __pipeline_wait_prior(3);

        float product[width], y[width];
        if (begins != 0 || count != rows)
            aggregate<dtype, width, rows>(&walk, walk.log_coeffs, begins, count, stage, initial_state, &place, product,
                                          y);
        else if (walk.log_coeffs)
            aggregate<dtype, width, rows>(&walk, true, 0, rows, stage, initial_state, &place, product, y);
        else
            aggregate<dtype, width, rows>(&walk, false, 0, rows, stage, initial_state, &place, product, y);
        join<width>(&totals, &chunk, !begins_at(&walk, chunk.position), product, y, begins != 0, y);
        if (begins != 0 || ends != 0 || count != rows)
            apply<dtype, width, rows>(&walk, walk.log_coeffs, begins, ends, count, stage, &outputs, initial_state,
                                      final_state, &place, y);
        else if (walk.log_coeffs)
            apply<dtype, width, rows>(&walk, true, 0, 0, rows, stage, &outputs, initial_state, final_state, &place, y);
        else
            apply<dtype, width, rows>(&walk, false, 0, 0, rows, stage, &outputs, initial_state, final_state, &place, y);
        if (numbers[0] == 0 && walk.starts != NULL && final_state != NULL)
            pass_empty(&walk, initial_state, final_state);
        const unsigned new_one = (unsigned)later[round % 2];
#pragma unroll
        for (int s = 0; s < MAX_STAGES; s++)
            numbers[s] = s == stages - 1 ? new_one : s + 1 < MAX_STAGES ? numbers[s + 1] : 0xFFFFFFFF;
        at = at + 1 == stages ? 0 : at + 1;
    }
    if (threadIdx.x == 0)
        check_ticket(space, drawn, in_all);
}

typedef void split_kernel(struct walk, struct split_plan, struct walked, struct walked, struct walked, const float *,
                          float *, struct chunk_space *);

extern "C" cudaError_t layout_prefetch(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    struct split_plan plan;
    cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if ((error = prefetch_plan(args, false, &plan)) != cudaSuccess)
        return error;
    const struct walk walk = walk_of(args, false);
#define FOR(width, rows)                                                                                               \
    by_dtype(args->dtype, stages_forward<FLOAT32, width, rows>, stages_forward<BF16, width, rows>,                     \
             stages_forward<BF16, width, rows>)
    split_kernel *const kernel = plan.width == 4 ? (plan.rows == 8 ? FOR(4, 8) : FOR(4, 16))
                                                 : (plan.rows == 8 ? FOR(2, 8) : FOR(2, 16));
#undef FOR
    unsigned blocks;
    if ((error = split_blocks((const void *)kernel, &plan, &blocks)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(blocks, plan.threads, plan.shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, walk, plan, walked_of(&walk, args, args->inputs, args->inputs_by),
                              walked_of(&walk, args, args->coeffs, args->coeffs_by),
                              walked_of(&walk, args, args->outputs, args->outputs_by), args->initial_state,
                              args->final_state, (struct chunk_space *)args->workspace);
}

extern "C" cudaError_t layout_prefetch_backward(const struct layout_args *args, cudaStream_t stream)
{
    (void)args, (void)stream;
    return cudaErrorNotSupported;
}
