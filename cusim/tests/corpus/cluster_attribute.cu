// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <string.h>
#include "corpus.h"

namespace cg = cooperative_groups;

// The blocks of a cluster take each other's numbers.
__device__ static float *other(float *mine)
{
    cg::cluster_group cluster = cg::this_cluster();
    return cluster.map_shared_rank(mine, cluster.num_blocks() - 1 - cluster.block_rank());
}

__device__ static void exchange(float *x)
{
    __shared__ float tile[N];
    const int i = threadIdx.x, j = blockIdx.x * blockDim.x + i;

    tile[i] = x[j];
    cg::this_cluster().sync();
    const float theirs = *other(&tile[blockDim.x - 1 - i]);
    cg::this_cluster().sync();
    x[j] = theirs;
}

__global__ void __cluster_dims__(2, 1, 1) twice(float *x)
{
    exchange(x);
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

template <class T, int blocks = 4>
__cluster_dims__(blocks) static __global__ void __launch_bounds__(N) back(T *x)
{
    exchange(x);
}

template <int... tens>
__global__ __cluster_dims__(1, (8 > 4 ? 2 : 1)) void add(float *x, float one)
{
    x[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] += cg::this_cluster().num_blocks() - one;
}

// its launch gives an argument of another type
template <class T>
__global__ void __cluster_dims__(4) same(T *x, float one)
{
    x[blockIdx.x] *= one + (cg::this_cluster().num_blocks() != 4);
}

__global__ void __cluster_dims__(2, 2) declared(float *x);
__global__ void declared(float *x)
{
    if (cg::this_cluster().num_blocks() != 4)
        x[blockIdx.x] = -1;
}

static cudaError_t launch(unsigned width, float *x)
{
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = width;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = N / 4;
    config.attrs = &attribute;
    config.numAttrs = width > 0 ? 1 : 0;
    return cudaLaunchKernelEx(&config, back<float, 2>, x);
}

// numbers() as twice leaves them, pair by pair of blocks: back to front
int main(void)
{
    float *x = numbers();
    cudaFuncAttributes attributes;

    twice<<<4, N / 4>>>(x);
    back<float, 2><<<4, N / 4>>>(x);
    back<float><<<4, N / 4>>>(x);
    if (launch(0, x) != cudaSuccess || launch(2, x) != cudaSuccess) // twice there and back
        return 1;
    back<float, 4><<<4, N / 4>>>(x);
    add<1, 10><<<dim3(2, 2), N / 4>>>(x, 1);
    declared<<<dim3(2, 2), 1>>>(x);
    same<<<4, 1>>>(x, 1);

    // a grid without whole clusters, other clusters than the kernel's
    twice<<<3, N / 4>>>(x);
    if (cudaGetLastError() != cudaErrorInvalidClusterSize || launch(4, x) != cudaErrorInvalidClusterSize ||
        cudaGetLastError() != cudaErrorInvalidClusterSize)
        return 1;
    if (cudaFuncGetAttributes(&attributes, back<float>) != cudaSuccess || attributes.clusterDimMustBeSet == 0 ||
        attributes.requiredClusterWidth != 4 || attributes.requiredClusterHeight != 1)
        return 1;
    return finish(x, 2, 1);
}
