/* SPDX-License-Identifier: MIT */
/* right.cu - kernels that use the simulator as they should. Prints every result; says on stderr which one is wrong. */
#include <sim_tma.h>
#include <sim_named_barrier.h>

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffffffu

/* d[] is what a kernel writes, h[] its copy on the host. */
static float *d;
static float h[4096];
static int failures;

static void expect(bool right, const char *what)
{
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        failures++;
    }
}

static void fetch(int count)
{
    expect(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "launch");
    cudaMemcpy(h, d, (size_t)count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        printf("%a\n", h[i]);
}

/* Turns the block's numbers around; a block has E elements a thread. */
template <int E>
__global__ void __launch_bounds__(64) turn(float *__restrict__ out)
{
    __shared__ float tile[64 * E], /* two arrays in one declaration */
        first[1];
    extern __shared__ __align__(16) float copy[];

    for (int e = 0; e < E; e++)
        tile[threadIdx.x * E + e] = (float)(blockIdx.x * 64 * E + threadIdx.x * E + e);
    if (threadIdx.x == 0)
        first[0] = 1000;
    __syncthreads();
    for (int e = 0; e < E; e++)
        copy[threadIdx.x * E + e] = tile[64 * E - 1 - (threadIdx.x * E + e)];
    __syncthreads();
    for (int e = 0; e < E; e++)
        out[blockIdx.x * 64 * E + e * 64 + threadIdx.x] = copy[e * 64 + threadIdx.x] + first[0];
}

#define SIZES(X) X(1) X(3) X(4)

static void test_turn(int e)
{
    switch (e) {
#define CASE(E)                                                                                                        \
    case E:                                                                                                            \
        turn<E><<<3, 64, 64 * E * sizeof(float), (cudaStream_t)0>>>(d);                                                \
        break;
        SIZES(CASE)
#undef CASE
    }
    fetch(3 * 64 * e);
    for (int i = 0; i < 3 * 64 * e; i++)
        expect(h[i] == (float)(1000 + i / (64 * e) * (64 * e) + 64 * e - 1 - i % (64 * e)), "turn");
}

/* Every kind of shuffle; lane l holds l. */
__global__ void shuffles(float *out)
{
    const int lane = threadIdx.x;
    float *o = out + lane;

    o[0] = __shfl_sync(ALL, (float)lane, 5);
    o[32] = (float)__shfl_sync(ALL, lane, lane + 1, 8);
    o[64] = (float)__shfl_up_sync(ALL, (unsigned)lane, 1);
    o[96] = (float)__shfl_up_sync(ALL, (double)lane, 3, 8);
    o[128] = (float)__shfl_down_sync(ALL, (long long)lane, 1);
    o[160] = (float)__shfl_down_sync(ALL, (unsigned long long)lane, 3, 8);
    o[192] = (float)__shfl_xor_sync(ALL, lane, 16);
    o[224] = (float)__shfl_xor_sync(ALL, lane, 12, 8);
    if (lane < 16) /* only half of the lanes, all of which are named */
        o[256] = (float)__shfl_xor_sync(0xffff, lane, 1);
    else
        o[256] = (float)__shfl_xor_sync(0xffff0000, lane, 2);
}

static void test_shuffles(void)
{
    shuffles<<<1, 32>>>(d);
    fetch(288);
    for (int l = 0; l < 32; l++) {
        const int xor12 = (l ^ 12) > (l | 7) ? l : l ^ 12;
        const int want[] = {5,
                            l / 8 * 8 + (l + 1) % 8,
                            l > 0 ? l - 1 : 0,
                            l % 8 >= 3 ? l - 3 : l,
                            l < 31 ? l + 1 : 31,
                            l % 8 < 5 ? l + 3 : l,
                            l ^ 16,
                            xor12,
                            l < 16 ? l ^ 1 : l ^ 2};
        for (int i = 0; i < 9; i++)
            expect(h[i * 32 + l] == (float)want[i], "shuffle");
    }
}

/* Votes, reductions and barriers that count. */
__global__ void votes(float *out)
{
    const int i = threadIdx.x, lane = i % 32;

    out[i] = (float)__popc(__ballot_sync(ALL, lane < 7));
    out[i + 64] = (float)__all_sync(ALL, lane < 32) + 10 * __all_sync(ALL, lane > 0);
    out[i + 128] = (float)__any_sync(ALL, lane == 9) + 10 * __any_sync(ALL, lane > 99);
    out[i + 192] = (float)__ffs(__match_any_sync(ALL, lane / 4));
    out[i + 256] = (float)__syncthreads_count(i % 3 == 0);
    out[i + 320] = (float)(__syncthreads_and(i >= 0) + 10 * __syncthreads_or(i == 70));
    out[i + 384] = (float)(__activemask() == ALL);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    out[i + 448] = (float)(__reduce_add_sync(ALL, lane) + __reduce_min_sync(ALL, -lane) + __reduce_max_sync(ALL, lane));
#endif
}

/* Lanes that have returned, or that the block has not, are not waited for; and a lane may get what is undefined as long
   as nobody uses it. */
__global__ void some_lanes(float *out)
{
    const int i = threadIdx.x;

    if (i >= 40)
        return;
    out[i] = (float)__popc(__ballot_sync(ALL, 1));
    if (i >= 32)
        return;
    int of_four = i, guarded = 1, total = 1;
    for (int d = 2; d > 0; d /= 2) {
        if (i < 4)
            of_four += __shfl_down_sync(0xf, of_four, d);
        if (i < 20) {
            const int other = __shfl_down_sync(0xfffff, guarded, d);
            guarded += i + d < 20 ? other : 0;
        }
    }
    for (int d = 16; d > 0; d /= 2)
        total += __shfl_down_sync(ALL, total, d);
    if (i == 0)
        out[40] = (float)of_four;
    out[41 + i] = (float)guarded;
    if (i == 0)
        out[80] = (float)total;
}

/* Data and a flag, both volatile, with fences; a lane waits for another one of its own warp, too. */
__global__ void tell(volatile float *out, volatile int *flag)
{
    const int i = threadIdx.x;

    if (i > 0) {
        while (flag[i - 1] == 0) {
        }
        __threadfence();
    }
    out[i] = i > 0 ? out[i - 1] + 1 : 1;
    __threadfence();
    flag[i] = 1;
}

static void test_some_lanes(void)
{
    some_lanes<<<1, 48>>>(d);
    fetch(41);
    expect(h[0] == 32 && h[32] == 8 && h[40] == 6, "lanes that are there");
    cudaMemset(d, 0, sizeof(h));
    tell<<<1, 64>>>(d, (int *)d + 64);
    fetch(64);
    expect(h[63] == 64, "from lane to lane");
}

static void test_votes(void)
{
    const float want[] = {7, 1, 1, 0, 22, 1, 1, 496};

    votes<<<1, 64>>>(d);
    fetch(512);
    for (int i = 0; i < 512; i++)
        expect(h[i] == (i / 64 == 3 ? (float)(i % 32 / 4 * 4 + 1) : want[i / 64]), "vote");
}

/* Atomics, and a warp that polls until another one has written. */
__global__ void talk(float *out, int *count, unsigned long long *most)
{
    __shared__ volatile int flag;
    const int i = threadIdx.x;

    if (i == 0)
        flag = 0;
    __syncthreads();
    atomicAdd(&out[64], 0.5f);
    atomicAdd(count, i);
    atomicMax(most, (unsigned long long)i);
    if (i == 63) {
        __threadfence_block();
        flag = 7;
    }
    if (i == 0)
        while (flag == 0)
            __nanosleep(20);
    __syncthreads();
    out[i] = (float)flag;
}

static void test_talk(void)
{
    int *count, n;
    unsigned long long *most, m;

    cudaMalloc(&count, sizeof(*count));
    cudaMalloc((void **)&most, sizeof(*most));
    cudaMemset(count, 0, sizeof(*count));
    cudaMemset(most, 0, sizeof(*most));
    cudaMemset(d, 0, 65 * sizeof(float));
    talk<<<1, dim3(8, 4, 2).x * 8>>>(d, count, most);
    fetch(65);
    cudaMemcpy(&n, count, sizeof(n), cudaMemcpyDeviceToHost);
    cudaMemcpy(&m, most, sizeof(m), cudaMemcpyDefault);
    expect(h[0] == 7 && h[63] == 7 && h[64] == 32 && n == 2016 && m == 63, "talk");
    cudaFree(count);
    cudaFree(most);
}

/* Who comes last adds up what the others have written: in a block, and over all blocks. A fence before the flag is
   touched, one after. */
__global__ void last_one(float *out, float *parts, unsigned *counts)
{
    const unsigned i = blockIdx.x * 64 + threadIdx.x, block = blockIdx.x;
    float sum = 0;

    parts[i] = (float)i;
    __threadfence();
    if (atomicAdd(&counts[block], 1u) == 63) {
        __threadfence();
        for (unsigned j = 0; j < 64; j++)
            sum += parts[block * 64 + j];
        parts[4 * 64 + block] = sum;
        __threadfence();
        if (atomicAdd(&counts[4], 1u) == 3) {
            __threadfence();
            out[0] = parts[4 * 64] + parts[4 * 64 + 1] + parts[4 * 64 + 2] + parts[4 * 64 + 3];
        }
    }
}

static void test_last_one(void)
{
    unsigned *counts;
    float *parts;

    cudaMalloc(&parts, 260 * sizeof(float));
    cudaMalloc((void **)&counts, 5 * sizeof(*counts));
    cudaMemset(counts, 0, 5 * sizeof(*counts));
    last_one<<<4, 64>>>(d, parts, counts);
    fetch(1);
    expect(h[0] == 255 * 128, "last one");
    cudaFree(parts);
    cudaFree(counts);
}

/* Two groups of asynchronous copies; the second one zeroes its last 8 bytes. */
__global__ void copies(float *out, const float4 *in)
{
    extern __shared__ float4 tiles[];
    const int i = threadIdx.x;
    float4 *a = &tiles[i], *b = &tiles[32 + i];

    __pipeline_memcpy_async(a, &in[i], sizeof(float4));
    __pipeline_commit();
    __pipeline_memcpy_async(b, &in[i], sizeof(float4), 8);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float one = a->w; /* the other group may be on its way */
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 next = tiles[32 + (i + 1) % 32];
    ((float4 *)out)[i] = make_float4(one, next.x, next.y, next.z);
}

static void test_copies(void)
{
    float4 *in;

    cudaMalloc(&in, 32 * sizeof(float4));
    for (int i = 0; i < 128; i++)
        h[i] = (float)i;
    cudaMemcpy(in, h, 32 * sizeof(float4), cudaMemcpyHostToDevice);
    expect(cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) == cudaSuccess,
           "attribute");
    copies<<<1, 32, 60000>>>(d, in); /* more than 48 KiB: asked for */
    fetch(128);
    for (int i = 0; i < 32; i++)
        expect(h[4 * i] == (float)(4 * i + 3) && h[4 * i + 1] == (float)((i + 1) % 32 * 4) &&
                   h[4 * i + 2] == (float)((i + 1) % 32 * 4 + 1) && h[4 * i + 3] == 0,
               "copy");
    cudaFree(in);
}

/* Bulk copies, STAGES tiles ahead of the block that uses them. Each tile comes in two pieces,
   which one barrier counts. */
#define TILE 128

static __device__ void request(float *tile, const float *in, uint64_t *full)
{
    mbarrier_expect(full, TILE * sizeof(float));
    tma_load(tile, in, 16, full);
    tma_load(tile + 4, in + 4, TILE * sizeof(float) - 16, full);
}

template <int STAGES>
__global__ void pipeline(float *out, const float *in, int tiles)
{
    __shared__ __align__(16) float tile[STAGES][TILE];
    __shared__ uint64_t full[STAGES];
    const int i = threadIdx.x;

    in += blockIdx.x * tiles * TILE;
    out += blockIdx.x * tiles * TILE;
    if (i == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < STAGES && s < tiles; s++)
            request(tile[s], in + s * TILE, &full[s]);
    }
    __syncthreads();
    for (int t = 0; t < tiles; t++) {
        const int s = t % STAGES;

        mbarrier_wait(&full[s], t / STAGES % 2);
        for (int j = i; j < TILE; j += blockDim.x)
            out[t * TILE + j] = tile[s][TILE - 1 - j];
        __syncthreads(); /* all have read: the stage is free */
        if (i == 0 && t + STAGES < tiles)
            request(tile[s], in + (t + STAGES) * TILE, &full[s]);
    }
}

/* The same without __syncthreads in the loop: the first warp only loads, and a barrier tells it that a stage is empty.
   That barrier counts no bytes; the first wait for it returns at once, as the phase before the first has parity 1. */
template <int STAGES>
__global__ void workers(float *out, const float *in, int tiles)
{
    __shared__ __align__(16) float tile[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int i = (int)threadIdx.x - 32;

    in += blockIdx.x * tiles * TILE;
    out += blockIdx.x * tiles * TILE;
    if (i == -32) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], blockDim.x - 32);
        }
        mbarrier_init_done();
    }
    __syncthreads();
    for (int t = 0; t < tiles; t++) {
        const int s = t % STAGES, round = t / STAGES;

        if (i == -32) {
            mbarrier_wait(&empty[s], (round + 1) % 2);
            request(tile[s], in + t * TILE, &full[s]);
        }
        if (i >= 0) {
            mbarrier_wait(&full[s], round % 2);
            for (int j = i; j < TILE; j += (int)blockDim.x - 32)
                out[t * TILE + j] = tile[s][TILE - 1 - j];
            mbarrier_expect(&empty[s], 0);
        }
    }
}

/* Each block has a barrier of its own, in its first phase. */
__global__ void many_blocks(float *out)
{
    __shared__ uint64_t barrier;

    mbarrier_init(&barrier, 1);
    mbarrier_expect(&barrier, 0);
    mbarrier_wait(&barrier, 0);
    out[blockIdx.x] = 1;
}

static void test_pipeline(void)
{
    const int tiles = 7, count = 2 * tiles * TILE;
    float *in;

    cudaMalloc(&in, count * sizeof(float));
    for (int kernel = 0; kernel < 6; kernel++) {
        for (int i = 0; i < count; i++)
            h[i] = (float)(i + kernel);
        cudaMemcpy(in, h, count * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemset(d, 0, count * sizeof(float));
        switch (kernel) {
        case 0:
            pipeline<1><<<2, 64>>>(d, in, tiles);
            break;
        case 1:
            pipeline<2><<<2, 64>>>(d, in, tiles);
            break;
        case 2:
            pipeline<3><<<2, 64>>>(d, in, tiles);
            break;
        case 3:
            workers<1><<<2, 96>>>(d, in, tiles);
            break;
        case 4:
            workers<2><<<2, 96>>>(d, in, tiles);
            break;
        case 5:
            workers<3><<<2, 96>>>(d, in, tiles);
            break;
        }
        fetch(count);
        for (int i = 0; i < count; i++)
            expect(h[i] == (float)(i / TILE * TILE + TILE - 1 - i % TILE + kernel), "pipeline");
    }
    cudaFree(in);
    many_blocks<<<1500, 1>>>(d);
    fetch(1500);
    for (int i = 0; i < 1500; i++)
        expect(h[i] == 1, "many blocks");
}

/* One warp loads tiles for the others, by named barriers: 1 + s says that stage s is full, 1 + STAGES + s that it may
   be filled again. The warps that work then pass a baton in a ring, each adding its number to a word in turn. */
template <int STAGES>
__global__ void batons(float *out, const float *in, int tiles)
{
    __shared__ float tile[STAGES][TILE], baton;
    const int threads = (int)blockDim.x, i = (int)threadIdx.x - 32, warps = threads / 32 - 1;

    in += blockIdx.x * tiles * TILE;
    out += blockIdx.x * tiles * TILE;
    for (int t = 0; t < tiles; t++) {
        const int s = t % STAGES;

        if (i < 0) {
            if (t >= STAGES)
                named_barrier_sync(1 + STAGES + s, threads);
            for (int j = i + 32; j < TILE; j += 32)
                tile[s][j] = in[t * TILE + j];
            named_barrier_arrive(1 + s, threads);
        } else {
            named_barrier_sync(1 + s, threads);
            for (int j = i; j < TILE; j += threads - 32)
                out[t * TILE + j] = tile[s][TILE - 1 - j];
            if (t + STAGES < tiles)
                named_barrier_arrive(1 + STAGES + s, threads);
        }
    }
    __syncthreads();
    if (i < 0)
        return;
    const int warp = i / 32, next = (warp + 1) % warps;
    for (int round = 0; round < 3; round++) {
        if (warp > 0 || round > 0)
            named_barrier_sync(8 + warp, 64);
        if (i % 32 == 0)
            baton = warp == 0 && round == 0 ? 1.0f : 2 * baton + (float)warp;
        if (warp < warps - 1 || round < 2)
            named_barrier_arrive(8 + next, 64);
    }
    if (i == threads - 64) /* lane 0 of the last warp */
        out[0] = out[0] + baton;
}

static void test_batons(void)
{
    const int tiles = 7, count = 2 * tiles * TILE;
    float *in;

    cudaMalloc(&in, count * sizeof(float));
    for (int kernel = 0; kernel < 2; kernel++) {
        for (int i = 0; i < count; i++)
            h[i] = (float)(i + kernel);
        cudaMemcpy(in, h, count * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemset(d, 0, count * sizeof(float));
        if (kernel == 0)
            batons<1><<<2, 96>>>(d, in, tiles);
        else
            batons<2><<<2, 128>>>(d, in, tiles);
        fetch(count);
        float baton = 1;
        for (int turn = 1; turn < 3 * (kernel + 2); turn++)
            baton = 2 * baton + (float)(turn % (kernel + 2));
        for (int i = 0; i < count; i++)
            expect(h[i] ==
                       (float)(i / TILE * TILE + TILE - 1 - i % TILE + kernel) + (i % (tiles * TILE) == 0 ? baton : 0),
                   "batons");
    }
    cudaFree(in);
}

/* Blocks and grids of three dimensions; fresh memory is NaN. */
__global__ void places(float *out)
{
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);

    out[block * 24 + i] = (float)(threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x);
}

static void test_places(void)
{
    places<<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(d);
    fetch(12 * 24);
    for (int i = 0; i < 12 * 24; i++)
        expect(h[i] == (float)(i % 24 / 12 * 100 + i % 12 / 4 * 10 + i % 4), "place");
}

/* What the host API refuses. */
static void test_host(void)
{
    cudaEvent_t start, end;
    float ms = -1;
    int blocks = 0;
    void *memory;
    size_t available = 0, total = 0;
    struct cudaDeviceProp prop;

    expect(cudaMemGetInfo(&available, &total) == cudaSuccess && available < total, "memory of the machine");
    expect(cudaMalloc(&memory, total) == cudaErrorMemoryAllocation, "too much memory");
    expect(cudaPeekAtLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation &&
               cudaGetLastError() == cudaSuccess,
           "last error");
    expect(cudaMemcpy(d, h, sizeof(h) + 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "copy past the end");
    expect(cudaMemcpy(h, d, 4, (enum cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection, "kind of a copy");
    expect(cudaFree((char *)d + 16) == cudaErrorInvalidValue, "free inside");
    expect(cudaSetDevice(1) == cudaErrorInvalidDevice, "device");
    expect(strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0, "error name");
    expect(cudaFuncSetAttribute(places, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue,
           "shared memory past the device's");
    cudaGetLastError();
    expect(cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.warpSize == 32, "properties");
    expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, places, 256, 0) == cudaSuccess && blocks >= 4,
           "occupancy");
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    expect(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle, "event not recorded");
    cudaGetLastError();
    cudaEventRecord(start);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    expect(cudaEventElapsedTime(&ms, start, end) == cudaSuccess && ms >= 0, "event");
    cudaEventDestroy(start);
    cudaEventDestroy(end);
}

int main(void)
{
    cudaMalloc(&d, sizeof(h));
#define TEST(E) test_turn(E);
    SIZES(TEST)
    test_shuffles();
    test_votes();
    test_some_lanes();
    test_talk();
    test_last_one();
    test_copies();
    test_pipeline();
    test_batons();
    test_places();
    test_host();
    return failures != 0;
}
