/* SPDX-License-Identifier: MIT */
/* cuda_c.cu - the examples of docs/cuda_c.md. One program: it runs each of them and prints what came out. */
#include <cuda_runtime.h>

#include <cuda_pipeline.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- qualifiers ---- */

static __device__ __forceinline__ float twice(float x)
{
    return 2.0f * x;
}

static __global__ void twice_all(int count, const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = twice(in[i]);
}

/* ---- launch ---- */

extern "C" cudaError_t launch_twice_all(int count, const float *in, float *out, cudaStream_t stream)
{
    const int threads = 128, blocks = (count + threads - 1) / threads;
    if (count <= 0)
        return count < 0 ? cudaErrorInvalidValue : cudaSuccess;
    twice_all<<<blocks, threads, 0, stream>>>(count, in, out);
    return cudaGetLastError();
}

/* ---- templates and register arrays ---- */

template <int elems>
static __global__ void sums_of_own(const float *in, float *out)
{
    float x[elems];
#pragma unroll
    for (int i = 0; i < elems; i++)
        x[i] = in[threadIdx.x * elems + i];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < elems; i++)
        sum += x[i];
    out[threadIdx.x] = sum;
}

/* ---- shared memory ---- */

static __global__ void turn_round(const float *in, float *out)
{
    __shared__ float room[128];
    room[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

static __global__ void turn_round_any(const float *in, float *out)
{
    extern __shared__ float any_room[];
    any_room[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = any_room[blockDim.x - 1 - threadIdx.x];
}

/* ---- __restrict__ ---- */

static __global__ void scale(const float *__restrict__ factor, const float *__restrict__ in, float *__restrict__ out)
{
    for (int i = 0; i < 4; i++)
        out[4 * threadIdx.x + i] = *factor * in[4 * threadIdx.x + i];
}

/* ---- float4 ---- */

static __global__ void add_four(const float *a, const float *b, float *sum)
{
    const float4 x = ((const float4 *)a)[threadIdx.x];
    const float4 y = ((const float4 *)b)[threadIdx.x];
    ((float4 *)sum)[threadIdx.x] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

/* ---- loads and stores with a hint ---- */

static __global__ void copy_once(const float4 *in, float4 *out)
{
    const float4 value = __ldcg(in + threadIdx.x);
    __stcs(out + threadIdx.x, value);
}

/* ---- lanes talk ---- */

static __global__ void differences(const float *in, float *out)
{
    const int lane = threadIdx.x % 32;
    const float mine = in[threadIdx.x];
    const float before = __shfl_up_sync(0xFFFFFFFFu, mine, 1);
    const float last = __shfl_sync(0xFFFFFFFFu, mine, 31);
    out[threadIdx.x] = lane == 0 ? last : mine - before;
}

static __global__ void larger_than(float limit, const float *in, unsigned *lanes)
{
    const unsigned votes = __ballot_sync(0xFFFFFFFFu, in[threadIdx.x] > limit);
    if (threadIdx.x == 0)
        *lanes = votes;
}

/* ---- asynchronous copies ---- */

static __global__ void copy_async(const float4 *in, float4 *out)
{
    __shared__ float4 stage[2][32];
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_memcpy_async(&stage[1][threadIdx.x], &in[32 + threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1); /* all but the newest batch: the first */
    out[threadIdx.x] = stage[0][threadIdx.x];
    __pipeline_wait_prior(0);
    out[32 + threadIdx.x] = stage[1][threadIdx.x];
}

/* ---- the program ---- */

enum { COUNT = 256 };

static void stop_if(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

/* Waits for the kernel, and prints some of its results. */
static void show(const char *name, const float *results, int first, int count)
{
    float host[COUNT];
    stop_if(cudaGetLastError());
    stop_if(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
    printf("%-15s", name);
    for (int i = first; i < first + count; i++)
        printf(" %g", host[i]);
    printf("\n");
}

int main(void)
{
    float ramp[COUNT], *in, *out;
    unsigned votes = 0, *lanes;

    for (int i = 0; i < COUNT; i++)
        ramp[i] = (float)i;
    stop_if(cudaMalloc(&in, sizeof ramp));
    stop_if(cudaMalloc(&out, sizeof ramp));
    stop_if(cudaMalloc(&lanes, sizeof votes));
    stop_if(cudaMemcpy(in, ramp, sizeof ramp, cudaMemcpyHostToDevice));
    stop_if(cudaMemset(out, 0, sizeof ramp));

    stop_if(launch_twice_all(COUNT, in, out, 0));
    show("twice_all", out, 0, 5);
    sums_of_own<4><<<1, 32>>>(in, out);
    show("sums_of_own<4>", out, 0, 5);
    sums_of_own<8><<<1, 32>>>(in, out);
    show("sums_of_own<8>", out, 0, 5);
    turn_round<<<1, 128>>>(in, out);
    show("turn_round", out, 0, 5);
    turn_round_any<<<1, 256, 256 * sizeof(float)>>>(in, out);
    show("turn_round_any", out, 0, 5);
    scale<<<1, 64>>>(in + 3, in, out);
    show("scale", out, 0, 5);
    add_four<<<1, 64>>>(in, in, out);
    show("add_four", out, 0, 5);
    copy_once<<<1, 64>>>((const float4 *)in, (float4 *)out);
    show("copy_once", out, 0, 5);
    differences<<<1, 32>>>(in, out);
    show("differences", out, 0, 5);
    copy_async<<<1, 32>>>((const float4 *)in, (float4 *)out);
    show("copy_async", out, 126, 5);

    larger_than<<<1, 32>>>(27.5f, in, lanes);
    stop_if(cudaGetLastError());
    stop_if(cudaMemcpy(&votes, lanes, sizeof votes, cudaMemcpyDeviceToHost));
    printf("%-15s %08X\n", "larger_than", votes);

    stop_if(cudaFree(in));
    stop_if(cudaFree(out));
    stop_if(cudaFree(lanes));
    return 0;
}
