// right
// SPDX-License-Identifier: MIT
#ifdef CUSIM
#include <sim_cluster.h>
#else /* what stands here in a program for a GPU */
#include <cooperative_groups.h>
#define cluster_rank() cooperative_groups::this_cluster().block_rank()
#define cluster_size() cooperative_groups::this_cluster().num_blocks()
#define cluster_shared(shared, rank) cooperative_groups::this_cluster().map_shared_rank(shared, rank)
#define cluster_arrive() asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define cluster_arrive_relaxed() asm volatile("barrier.cluster.arrive.relaxed.aligned;")
#define cluster_wait() asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#endif
#include "corpus.h"

/* Two blocks of half as many threads give each other what they have, and take it back. */
__global__ void kernel(float *x)
{
    __shared__ float mine[N / 2];
    float *const own = x + blockIdx.x * (N / 2) + threadIdx.x;

    cluster_arrive_relaxed();
    cluster_wait();
    ((float *)cluster_shared(mine, cluster_size() - 1 - cluster_rank()))[threadIdx.x] = *own;
    cluster_arrive();
    cluster_wait();
    const float others = mine[threadIdx.x];
    *own = others + (cluster_rank() == 0 ? -(float)(N / 2) : (float)(N / 2)) + *own + 1;
}

int main(void)
{
    float *x = numbers();
    cudaLaunchAttribute size = {};
    cudaLaunchConfig_t launch = {};

    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = 2;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    launch.gridDim = 2;
    launch.blockDim = N / 2;
    launch.attrs = &size;
    launch.numAttrs = 1;
    if (cudaLaunchKernelEx(&launch, kernel, x) != cudaSuccess)
        return 1;
    return finish(x, 2, 1);
}
