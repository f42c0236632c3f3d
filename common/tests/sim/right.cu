/* right.cu - kernels that use the simulator as they should. Prints every result; says on stderr which one is wrong. */
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

/* Two groups of asynchronous copies; the second one zeroes its last 8 bytes. out[0..3] is what lies there before the
 * wait. */
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
    const float one = a->w, other = b->x;
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 next = tiles[32 + (i + 1) % 32];
    ((float4 *)out)[i] = make_float4(one, isnan(other) ? 1.0f : 0.0f, next.y, next.z);
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
    for (int i = 0; i < 32; i++) /* h[4 i + 1]: still NaN, on a GPU the copy may be early */
        expect(h[4 * i] == (float)(4 * i + 3) && h[4 * i + 1] == 1 && h[4 * i + 2] == (float)((i + 1) % 32 * 4 + 1) &&
                   h[4 * i + 3] == 0,
               "copy");
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
    float fresh = 0;
    void *memory;

    places<<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(d);
    fetch(12 * 24);
    for (int i = 0; i < 12 * 24; i++)
        expect(h[i] == (float)(i % 24 / 12 * 100 + i % 12 / 4 * 10 + i % 4), "place");
    cudaMalloc(&memory, sizeof(fresh));
    cudaMemcpy(&fresh, memory, sizeof(fresh), cudaMemcpyDeviceToHost);
    expect(fresh != fresh, "fresh memory");
    cudaFree(memory);
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
    test_talk();
    test_copies();
    test_places();
    test_host();
    return failures != 0;
}
