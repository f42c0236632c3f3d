/* SPDX-License-Identifier: MIT */
/* traffic.cu - kernels whose requests, sectors and conflicts are worked out by hand in the comments. Prints what the
   simulator counts. */
#include <sim_tma.h>
#include "../counts.h"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>

/* ---- global memory ---- */

__global__ void coalesced(const float *x, float *y) /* 4 warps, each 128 bytes: 4 sectors, 1 line */
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

__global__ void shifted(const float *x, float *y) /* 128 bytes from byte 4 on: 5 sectors, 2 lines */
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}

__global__ void strided(const float *x, float *y) /* a sector for each lane */
{
    y[threadIdx.x] = x[8 * threadIdx.x];
}

__global__ void wide(const float4 *x, float4 *y) /* 512 bytes: 16 sectors, 4 lines */
{
    __stcs(&y[threadIdx.x], __ldcg(&x[threadIdx.x]));
}

__global__ void broadcast(const float *x, float *y) /* all lanes the same 4 bytes */
{
    y[threadIdx.x] = x[0];
}

/* each half of the warp from an array of its own: a request for each */
__global__ void halves(const float *x, float *y)
{
    const float *from = threadIdx.x < 16 ? x : y + 32;
    y[threadIdx.x] = from[threadIdx.x];
}

/* the first 3 and the last 8 of 128 are left out: 4, 4, 4, 3 sectors */
__global__ void guarded(const float *x, float *y)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = i * 32 + threadIdx.x;
        if (at >= 3 && at < 120)
            y[at] = x[at];
    }
}

__global__ void again(const float *x, float *y) /* three times the same: each sector is needed once */
{
    float sum = 0;
    for (int i = 0; i < 3; i++)
        sum += ((const volatile float *)x)[threadIdx.x];
    y[threadIdx.x] = sum;
}

__global__ void rows(const float *x, float *y) /* each lane its own 2000, more than a lane does in one turn */
{
    for (int i = 0; i < 2000; i++)
        y[threadIdx.x * 2000 + i] = x[threadIdx.x * 2000 + i];
}

__global__ void added(const float *, float *y) /* 32 atomics on 4 bytes */
{
    atomicAdd(y, 1.0f);
}

__global__ void groups(const float *, float *y) /* 8 lanes at each of 4 addresses, of global and of shared memory */
{
    __shared__ int sum[4];

    if (threadIdx.x < 4)
        sum[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x % 4], 1);
    atomicAdd(&y[threadIdx.x % 4], 1.0f);
}

__global__ void bulk(const float *x, float *y) /* 2 requests of 1024 bytes: 32 sectors, 8 lines each */
{
    __shared__ __align__(16) float tile[512];
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_init_done();
        mbarrier_expect(&barrier, 2048);
        tma_load(tile, x, 1024, &barrier);
        tma_load(tile + 256, x + 256, 1024, &barrier);
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void async(const float *x, float *y) /* as wide, and 512 bytes into shared memory without conflicts */
{
    __shared__ __align__(16) float tile[128];

    __pipeline_memcpy_async(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[4 * threadIdx.x]; /* a 4-way conflict: 3 more */
}

/* ---- shared memory: one request writes, one reads ---- */

template <class T, int stride>
__global__ void banks(const float *, float *y)
{
    __shared__ T tile[32 * stride + 1];

    tile[threadIdx.x * stride] = T();
    const volatile T *own = &tile[threadIdx.x * stride];
    y[threadIdx.x] = *(const volatile float *)own;
}

__global__ void quarters(const float4 *x,
                         float4 *y) /* 16 bytes a lane, every other 16: 2-way in each of 4 parts, twice */
{
    __shared__ float4 tile[64];

    tile[2 * threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = tile[2 * (threadIdx.x ^ 1)];
}

/* ---- steps one after the other ---- */

__global__ void chain(const float *, float *y) /* thread 0: 4 elements, 2 barriers, 5 shuffles, 1 wait */
{
    float v = 1;

    __syncthreads();
    for (int d = 1; d < 32; d *= 2)
        v += __shfl_up_sync(0xffffffff, v, d);
    __syncthreads();
    for (int i = 0; i < (threadIdx.x == 0 ? 4 : 1); i++)
        y[4 * threadIdx.x + i] = v;
    __syncwarp();
}

static void show(const char *name)
{
    const struct sim_counts c = sim_get_counts();
    const struct sim_traffic *t[] = {&c.loads, &c.stores};

    printf("%s:", name);
    for (int i = 0; i < 2; i++)
        if (t[i]->requests > 0)
            printf(" %s %d requests %d bytes %d sectors %d least %d lines %d once,", i == 0 ? "load" : "store",
                   (int)t[i]->requests, (int)t[i]->bytes, (int)t[i]->sectors, (int)t[i]->least, (int)t[i]->lines,
                   (int)t[i]->once);
    if (c.shared_requests > 0)
        printf(" shared %d requests %d bytes %d lanes %d conflicts,", (int)c.shared_requests, (int)c.shared_bytes,
               (int)c.shared_lanes, (int)c.conflicts);
    if (c.atomics > 0)
        printf(" contention %d,", (int)c.contention);
    printf(" chain %d\n", (int)c.chain);
    sim_reset_counts();
}

int main(void)
{
    const size_t size = 64000 * sizeof(float);
    float *x, *y;

    cudaMalloc(&x, size);
    cudaMalloc(&y, size);
    cudaMemset(x, 0, size);
    cudaMemset(y, 0, size);
#define SHOW(name, blocks, threads, type)                                                                              \
    name<<<blocks, threads>>>((const type *)x, (type *)y);                                                             \
    show(#name);
    SHOW(coalesced, 2, 64, float)
    SHOW(shifted, 2, 64, float)
    SHOW(strided, 1, 64, float)
    SHOW(wide, 1, 64, float4)
    SHOW(broadcast, 1, 64, float)
    SHOW(halves, 1, 32, float)
    SHOW(guarded, 1, 32, float)
    SHOW(again, 1, 32, float)
    SHOW(rows, 1, 32, float)
    SHOW(added, 1, 32, float)
    SHOW(groups, 1, 32, float)
    SHOW(bulk, 1, 32, float)
    SHOW(async, 1, 32, float)
    banks<float, 1><<<1, 32>>>(x, y), show("float, 1 apart");
    banks<float, 2><<<1, 32>>>(x, y), show("float, 2 apart");
    banks<float, 8><<<1, 32>>>(x, y), show("float, 8 apart");
    banks<float, 32><<<1, 32>>>(x, y), show("float, 32 apart");
    banks<float, 33><<<1, 32>>>(x, y), show("float, 33 apart");
    SHOW(quarters, 1, 32, float4)
    SHOW(chain, 1, 64, float)
    return cudaFree(x) != cudaSuccess || cudaFree(y) != cudaSuccess;
}
