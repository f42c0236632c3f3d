/* SPDX-License-Identifier: MIT */
/* count.cu - one kernel whose events are known by hand, and calls on streams; prints the simulator's counts, and what
   it remembers of the calls. */
#include <sim_tma.h>
#include <sim_named_barrier.h>
#include "../counts.h"

#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void events(const float *x, float *sum)
{
    __shared__ __align__(16) float tile[64];
    __shared__ float other[64];
    __shared__ uint64_t barrier;

    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float)); /* 3 blocks x 64 threads */
    __pipeline_commit();
    __pipeline_memcpy_async(&other[threadIdx.x], &x[threadIdx.x], sizeof(float)); /* again */
    __pipeline_commit();
    __pipeline_wait_prior(1);                                             /* one copy is still on its way */
    __pipeline_wait_prior(0);                                             /* 3 x 64: now none is */
    __pipeline_wait_prior(0);                                             /* there was nothing to wait for */
    __syncthreads();                                                      /* 3 blocks */
    const float up = __shfl_up_sync(0xffffffff, tile[threadIdx.x], 1, 8); /* 3 x 2 warps */
    __syncwarp();
    __syncwarp();                           /* twice 3 x 2 warps */
    if (__any_sync(0xffffffff, up > 1e30f)) /* 3 x 2 warps */
        sum[0] = 0;
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum[0], 1.0f); /* 3 x 2 threads, and 3 x 2 exchanges below */
    __syncthreads();              /* 3 blocks */
    named_barrier_sync(1, 64);    /* 3 blocks */
    if (threadIdx.x == 0) {       /* of each block 8 orders, 5 of them strong */
        cuda::atomic_ref<float, cuda::thread_scope_device> total(sum[1]);
        cuda::atomic_ref<float> everywhere(sum[1]);
        total.store(1.0f, cuda::memory_order_release);
        total.exchange(2.0f, cuda::memory_order_relaxed);
        everywhere.load(cuda::memory_order_relaxed);
        everywhere.load(cuda::memory_order_acquire);
        total.exchange(2.0f);
        __threadfence();
        cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    }
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_init_done();
        mbarrier_expect(&barrier, 128);
        tma_load(&tile[0], &x[0], 64, &barrier); /* 3 blocks x 2 */
        tma_load(&tile[16], &x[16], 64, &barrier);
        mbarrier_wait(&barrier, 0);
    }
}

/* Each call with its stream and its event, none of which is the default one. */
static void print_calls(const cudaStream_t *streams, cudaEvent_t event)
{
    for (size_t i = 0; i < sim_num_calls(); i++) {
        const struct sim_call_made call = sim_get_call(i);
        printf("%s%s%s%s\n", call.name,
               call.stream == streams[0]   ? " first"
               : call.stream == streams[1] ? " second"
                                           : "",
               call.stream == NULL ? " default" : "",
               call.event == NULL    ? ""
               : call.event == event ? " event"
                                     : " ?");
    }
}

static void queue_some(float *x, float *sum)
{
    cudaStream_t streams[2];
    cudaEvent_t event;

    cudaStreamCreate(&streams[0]);
    cudaStreamCreate(&streams[1]);
    cudaEventCreate(&event);
    sim_watch_calls(true, -1);
    events<<<1, 64, 0, streams[0]>>>(x, sum);
    cudaEventRecord(event, streams[0]);
    cudaStreamWaitEvent(streams[1], event, 0);
    cudaMemcpyAsync(x, sum, sizeof(float), cudaMemcpyDeviceToDevice, streams[1]);
    cudaMemsetAsync(x, 0, sizeof(float), streams[1]);
    cudaMemset(x, 0, sizeof(float));
    events<<<1, 64, 0, cudaStreamLegacy>>>(x, sum);
    cudaStreamWaitEvent(streams[0], event, 0); /* it is done */
    print_calls(streams, event);
    sim_watch_calls(false, -1);
    cudaStreamDestroy(streams[0]);
    cudaStreamDestroy(streams[1]);
    cudaEventDestroy(event);
}

int main(void)
{
    float *x, *sum;

    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&sum, 2 * sizeof(float));
    cudaMemset(x, 0, 64 * sizeof(float));
    cudaMemset(sum, 0, 2 * sizeof(float));
    events<<<1, 64>>>(x, sum);
    sim_reset_counts();
    events<<<3, 64>>>(x, sum);
    const struct sim_counts c = sim_get_counts();
    printf("launches %d blocks %d threads %d barriers %d warp_barriers %d shuffles %d votes %d atomics %d orders %d "
           "strong_orders %d async_copies %d bulk_copies %d idle_waits %d\n",
           (int)c.launches, (int)c.blocks, (int)c.threads, (int)c.barriers, (int)c.warp_barriers, (int)c.shuffles,
           (int)c.votes, (int)c.atomics, (int)c.orders, (int)c.strong_orders, (int)c.async_copies, (int)c.bulk_copies,
           (int)c.idle_waits);
    queue_some(x, sum);
    return cudaFree(x) != cudaSuccess || cudaFree(sum) != cudaSuccess;
}
