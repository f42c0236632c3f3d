// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    __shared__ float mine[N / 2];
    cg::cluster_group cluster = cg::this_cluster();
    float *const own = x + blockIdx.x * (N / 2) + threadIdx.x;

    cluster.sync();
    cluster.map_shared_rank(mine, 1 - cluster.block_rank())[threadIdx.x] = *own;
    cluster.sync();
    *own += mine[threadIdx.x] + (cluster.block_rank() == 0 ? -(float)(N / 2) : (float)(N / 2)) + 1;
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
