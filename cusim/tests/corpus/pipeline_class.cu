// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include "corpus.h"

enum { STAGES = 2, PIECE = 8 };

/* Each thread copies what it needs itself, two stages ahead. */
__device__ static float sum_alone(float *shared, const float *x)
{
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const auto four = cuda::aligned_size_t<4>(sizeof(float));
    float sum = 0;

    for (int next = 0, i = 0; i < PIECE; i++) {
        for (; next < PIECE && next < i + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&shared[next % STAGES * N + threadIdx.x], &x[next * PIECE + threadIdx.x % PIECE], four,
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += shared[i % STAGES * N + threadIdx.x];
        pipe.consumer_release();
    }
    return sum;
}

/* The block copies together; the last thread of it reads what the first has brought. */
__device__ static float sum_together(float *shared, const float *x)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;

    for (int next = 0, i = 0; i < PIECE; i++) {
        for (; next < PIECE && next < i + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, shared + next % STAGES * N, x + next * PIECE, sizeof(float) * PIECE, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += shared[i % STAGES * N + threadIdx.x % PIECE];
        pipe.consumer_release();
    }
    return sum;
}

/* Half of the warps copy, half add. */
__device__ static float sum_apart(float *shared, const float *x)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    const bool copies = threadIdx.x < N / 2;
    auto pipe =
        cuda::make_pipeline(block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    float sum = 0;

    for (int i = 0; i < PIECE; i++)
        if (copies) {
            pipe.producer_acquire();
            if (threadIdx.x < PIECE)
                cuda::memcpy_async(shared + i % STAGES * N + threadIdx.x, x + i * PIECE + threadIdx.x, sizeof(float),
                                   pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += shared[i % STAGES * N + threadIdx.x % PIECE];
            pipe.consumer_release();
        }
    return sum;
}

__global__ void kernel(float *x)
{
    __shared__ __align__(16) float shared[STAGES * N];
    const int t = threadIdx.x;
    const float shall = (float)(PIECE * (t % PIECE) + PIECE * PIECE * (PIECE - 1) / 2);

    const float alone = sum_alone(shared, x);
    __syncthreads();
    const float together = sum_together(shared, x);
    __syncthreads();
    const float apart = sum_apart(shared, x);
    __syncthreads();
    x[t] = 2 * x[t] + (float)(alone == shall && together == shall && (t < N / 2 || apart == shall));
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
