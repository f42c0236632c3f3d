/* SPDX-License-Identifier: MIT */
/* plain.cu - A with W and Y for chips whose shared memory does not hold a stage of low_rank.cu, which launches it then:
   W, Y and h_local are loaded where they are used, and nothing comes early. Shared memory has a block's 32 columns of
   the state and the sums over rows, a lane a column:

       columns    lane 0  1  2 ... 31         p = Y^T h             a warp has every 8th rank,
       row 0      warp 0                      h = gamma h - W p + x         and then every 8th row
       row 1      warp 1
       ...                                    A barrier stands behind each line: the other warps have the other rows.
       row 8      warp 0

   Without h_local forward computes the transition (transition.cu): it begins with the identity, adds nothing, and
   stores the last state alone.

   Backward has d_h in place of h, and q = W^T d_h beside p. What is summed up over columns is a sum of
   one thread: d_W and d_Y of a row and a rank. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "chunk_check.h"
#include "low_rank_stage.cuh"
#include "low_rank_sums.h"

enum { PLAIN_WARPS = 8, PLAIN_STRIDE = BLOCK_COLUMNS + 1 /* from row to row: other rows, other banks */ };

template <int dtype>
static __global__ void __launch_bounds__(32 * PLAIN_WARPS, 1)
    plain_forward(struct low_rank_plan plan, bool exclusive, const void *__restrict__ h_local,
                  const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                  const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ float memory[];
    const struct low_rank_block block = low_rank_block_of(&plan);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, dk = plan.dk, rank = plan.rank;
    const bool inside = in_bounds(&plan, block, 0, lane), is_transition = h_local == NULL;
    const size_t state = block.head * dk * plan.dv + block.start + lane;
    float *const h = memory + lane, *const p = h + dk * PLAIN_STRIDE; /* the lane's column */
    for (int i = warp; i < dk; i += PLAIN_WARPS)
        h[i * PLAIN_STRIDE] = is_transition                     ? (float)(i == (int)block.start + lane)
                              : initial_state != NULL && inside ? initial_state[state + i * plan.dv]
                                                                : 0.0f;
    __syncthreads();
    for (size_t k = 0; k < block.chunks; k++) {
        const size_t row = (block.zero + k * plan.heads) * dk; /* of this chunk's first, in W, Y and h_local */
        for (int r = warp; r < rank; r += PLAIN_WARPS) {
            float sum = 0.0f;
            for (int i = 0; i < dk; i++)
                sum += read1<dtype>(Y, (row + i) * rank + r) * h[i * PLAIN_STRIDE];
            p[r * PLAIN_STRIDE] = sum;
        }
        __syncthreads();
        for (int i = warp; i < dk; i += PLAIN_WARPS) {
            const size_t at = (row + i) * plan.dv + block.start + lane;
            const size_t decay = row / dk * plan.decays + (plan.decays == 1 ? 0 : i);
            const float before = h[i * PLAIN_STRIDE];
            float t = gamma[decay] * before + (inside && !is_transition ? read1<dtype>(h_local, at) : 0.0f);
            for (int r = 0; r < rank; r++)
                t -= read1<dtype>(W, (row + i) * rank + r) * p[r * PLAIN_STRIDE];
            h[i * PLAIN_STRIDE] = t;
            if (inside && !is_transition)
                write1<dtype>(h_out, at, exclusive ? before : t);
        }
        __syncthreads();
    }
    for (int i = warp; i < dk && final_state != NULL && inside; i += PLAIN_WARPS)
        final_state[state + i * plan.dv] = h[i * PLAIN_STRIDE];
}

template <int dtype>
static __global__ void __launch_bounds__(32 * PLAIN_WARPS, 1)
    plain_backward(struct low_rank_plan plan, bool exclusive, const void *__restrict__ states,
                   const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                   const void *__restrict__ d_h_out, const float *__restrict__ d_final_state,
                   void *__restrict__ d_h_local, float *__restrict__ d_initial_state, struct part_counts counts,
                   float *__restrict__ parts)
{
    extern __shared__ float memory[];
    __shared__ float of_warps[PLAIN_WARPS];
    const struct low_rank_block block = low_rank_block_of(&plan);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, dk = plan.dk, rank = plan.rank;
    const int columns = (int)min(plan.dv - block.start, (size_t)BLOCK_COLUMNS);
    const bool inside = lane < columns;
    const size_t state = block.head * dk * plan.dv + block.start + lane;
    float *const all_d = memory, *const all_p = all_d + dk * PLAIN_STRIDE, *const all_q = all_p + rank * PLAIN_STRIDE;
    float *const d = all_d + lane, *const p = all_p + lane, *const q = all_q + lane; /* the lane's column */
    float *const d_W = parts + blockIdx.x % plan.slices * counts.all, *const d_Y = d_W + counts.ranks;
    for (int i = warp; i < dk; i += PLAIN_WARPS)
        d[i * PLAIN_STRIDE] = d_final_state != NULL && inside ? d_final_state[state + i * plan.dv] : 0.0f;
    for (size_t k = block.chunks; k-- > 0;) {
        const size_t chunk = block.zero + k * plan.heads, row = chunk * dk;
        float *const d_gamma = d_Y + counts.ranks + chunk * plan.decays;
        float of_gamma = 0.0f;
        for (int r = warp; r < rank; r += PLAIN_WARPS) {
            float sum = 0.0f;
            for (int i = 0; i < dk && inside; i++)
                sum += read1<dtype>(Y, (row + i) * rank + r) *
                       read1<dtype>(states, (row + i) * plan.dv + block.start + lane);
            p[r * PLAIN_STRIDE] = sum;
        }
        for (int i = warp; i < dk; i += PLAIN_WARPS) {
            const size_t at = (row + i) * plan.dv + block.start + lane;
            const float now = d[i * PLAIN_STRIDE] + (exclusive || !inside ? 0.0f : read1<dtype>(d_h_out, at));
            if (inside)
                write1<dtype>(d_h_local, at, now);
            float product = inside ? now * read1<dtype>(states, at) : 0.0f;
            for (int apart = 16; apart > 0; apart /= 2)
                product += __shfl_xor_sync(0xFFFFFFFFu, product, apart);
            of_gamma += product;
            if (plan.decays != 1 && lane == 0)
                d_gamma[i] = product;
            d[i * PLAIN_STRIDE] = now;
        }
        if (lane == 0)
            of_warps[warp] = of_gamma;
        __syncthreads(); /* p and d are there */
        for (int w = 1; plan.decays == 1 && threadIdx.x == 0 && w < PLAIN_WARPS; w++)
            of_gamma += of_warps[w];
        if (plan.decays == 1 && threadIdx.x == 0)
            *d_gamma = of_gamma;
        for (int r = warp; r < rank; r += PLAIN_WARPS) {
            float sum = 0.0f;
            for (int i = 0; i < dk; i++)
                sum += read1<dtype>(W, (row + i) * rank + r) * d[i * PLAIN_STRIDE];
            q[r * PLAIN_STRIDE] = sum;
        }
        __syncthreads();                                                  /* q is there */
        for (int n = threadIdx.x; n < dk * rank; n += 32 * PLAIN_WARPS) { /* a row and a rank */
            const int i = n / rank, r = n % rank;
            float of_W = 0.0f, of_Y = 0.0f;
            for (int c = 0; c < columns; c++) {
                of_W += all_d[i * PLAIN_STRIDE + c] * all_p[r * PLAIN_STRIDE + c];
                of_Y += read1<dtype>(states, (row + i) * plan.dv + block.start + c) * all_q[r * PLAIN_STRIDE + c];
            }
            d_W[row * rank + n] = -of_W;
            d_Y[row * rank + n] = -of_Y;
        }
        __syncthreads(); /* d and p have been read */
        for (int i = warp; i < dk; i += PLAIN_WARPS) {
            const size_t at = (row + i) * plan.dv + block.start + lane;
            float next = gamma[chunk * plan.decays + (plan.decays == 1 ? 0 : i)] * d[i * PLAIN_STRIDE];
            for (int r = 0; r < rank; r++)
                next -= read1<dtype>(Y, (row + i) * rank + r) * q[r * PLAIN_STRIDE];
            d[i * PLAIN_STRIDE] = next + (exclusive && inside ? read1<dtype>(d_h_out, at) : 0.0f);
        }
    }
    for (int i = warp; i < dk && d_initial_state != NULL && inside; i += PLAIN_WARPS)
        d_initial_state[state + i * plan.dv] = d[i * PLAIN_STRIDE];
}

/* Shared memory of a block with so many arrays of sums over rows. */
static size_t plain_shared(const struct low_rank_plan *plan, int sums)
{
    return (size_t)(plan->dk + sums * plan->rank) * PLAIN_STRIDE * sizeof(float);
}

static cudaError_t launch_forward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel = by_dtype(args->dtype, plain_forward<FLOAT32>, plain_forward<BF16>, plain_forward<FP16>);
    struct low_rank_plan plan;
    cudaError_t error = low_rank_plan_of(args, NULL, args->dk, &plan);
    if (error != cudaSuccess)
        return error;
    const size_t shared = plain_shared(&plan, 1);
    error = gpu_allow_shared((const void *)kernel, shared, 0);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.blocks, 32 * PLAIN_WARPS, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, args->h_local, args->gamma, args->W, args->Y,
                              args->initial_state, args->h_out, args->final_state);
}

extern "C" cudaError_t chunk_state_plain(const struct chunk_state_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    return done ? error : launch_forward(args, stream);
}

extern "C" cudaError_t chunk_state_plain_transition(const struct chunk_state_args *args, float *transition,
                                                    cudaStream_t stream)
{
    struct chunk_state_args of = *args;
    of.dv = args->dk;
    of.h_local = NULL;
    of.final_state = transition;
    return launch_forward(&of, stream);
}

extern "C" cudaError_t chunk_state_plain_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const auto kernel = by_dtype(args->dtype, plain_backward<FLOAT32>, plain_backward<BF16>, plain_backward<FP16>);
    struct low_rank_plan plan;
    struct backward_space space;
    struct chunk_state_args behind = *args;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, CHUNK_STATE_MAX_RANK, stream, &done);
    if (done)
        return error;
    const size_t used = low_rank_parts_bytes(args);
    if (args->workspace == NULL || args->workspace_size < used)
        return cudaErrorInvalidValue;
    behind.workspace = (char *)args->workspace + used;
    behind.workspace_size = args->workspace_size - used;
    error = low_rank_plan_of(args, NULL, args->dk, &plan);
    const size_t shared = error == cudaSuccess ? plain_shared(&plan, 2) : 0;
    if (error == cudaSuccess)
        error = gpu_allow_shared((const void *)kernel, shared, 0);
    if (error == cudaSuccess)
        error = backward_space(&behind, 1, 1, chunk_state_low_rank, stream, &space);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.blocks, 32 * PLAIN_WARPS, shared, stream);
    error = cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, space.states, args->gamma, args->W, args->Y,
                               args->d_h_out, args->d_final_state, args->d_h_local, args->d_initial_state,
                               low_rank_counts(args), (float *)args->workspace);
    return error == cudaSuccess ? low_rank_add_slices(args, (const float *)args->workspace, plan.slices, stream)
                                : error;
}
