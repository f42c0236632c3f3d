// stopped: barrier.wait() for parity 0 never ends
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    __shared__ __align__(16) float all[N];
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;

    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire(); // HERE
        cuda::memcpy_async(block, all, x, sizeof(all), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        sum += all[threadIdx.x];
    }
    x[threadIdx.x] = sum + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
