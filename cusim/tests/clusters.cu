/* SPDX-License-Identifier: MIT */
/* clusters.cu - blocks in clusters. `clusters NAME` runs kernel NAME: a right one, whose result it judges, or one with
   a mistake. clusters.t knows what must be said of it; marks in comments name lines, as in wrong.cu. */
#include "../counts.h"
#include <sim_tma.h>
#include <sim_cluster.h>

#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 64
#define N (48 * THREADS) /* elements of x; a flag lies behind them */

/* Launches in clusters of that many blocks; of more than 8 where the kernel is allowed it. */
static void launch(void (*kernel)(float *), float *x, dim3 grid, dim3 cluster, bool large, size_t dynamic)
{
    cudaLaunchAttribute blocks = {};
    blocks.id = cudaLaunchAttributeClusterDimension;
    blocks.val.clusterDim.x = cluster.x;
    blocks.val.clusterDim.y = cluster.y;
    blocks.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = dynamic;
    config.attrs = &blocks;
    config.numAttrs = 1;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, large);
    if (cudaLaunchKernelEx(&config, kernel, x) != cudaSuccess) /* HERE launch */
        exit(3);
}

__device__ static void meet(void)
{
    cluster_arrive();
    cluster_wait();
}

__device__ static float *there(float *shared, unsigned rank)
{
    return (float *)cluster_shared(shared, rank);
}

/* ---- right ones: each makes x[i] 2 i + 1 of the x[i] that it finds, i ---- */

/* Each block takes the tile of another one, and gives it back changed. */
__global__ void exchange(float *x)
{
    __shared__ float tile[THREADS], back[THREADS];
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    const unsigned other = cluster_size() - 1 - cluster_rank();

    tile[threadIdx.x] = *own;
    meet();
    there(back, other)[threadIdx.x] = 2 * there(tile, other)[THREADS - 1 - threadIdx.x] + 1;
    meet();
    *own = back[THREADS - 1 - threadIdx.x];
}

/* As kernels do: a first barrier that tells nothing but that all have begun, and each writes to all. */
__global__ void tell_all(float *x)
{
    __shared__ float firsts[16];
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;

    cluster_arrive_relaxed();
    const float value = *own;
    cluster_wait();
    if (threadIdx.x < cluster_size())
        there(firsts, threadIdx.x)[cluster_rank()] = value - (float)threadIdx.x;
    cluster_arrive();
    const float twice = 2 * value;
    cluster_wait();
    *own = twice + 1 + firsts[0] - firsts[cluster_rank()] + (float)(cluster_rank() * THREADS);
}

/* A value goes around, and each block adds to it, with all barriers between. */
__global__ void ring(float *x)
{
    extern __shared__ float value[];
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;

    value[threadIdx.x] = *own;
    meet();
    for (unsigned step = 0; step < cluster_size(); step++) {
        const float mine = value[threadIdx.x] + (step == 0 ? 0.5f : 0);
        meet();
        there(value, (cluster_rank() + 1) % cluster_size())[threadIdx.x] = mine;
        meet();
    }
    *own = 2 * value[threadIdx.x];
}

/* All count at one word of the first block. */
__global__ void count(float *x)
{
    __shared__ int counter;
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;

    if (threadIdx.x == 0)
        counter = 1;
    meet();
    atomicAdd((int *)cluster_shared(&counter, 0), 1);
    meet();
    const int all = *(int *)cluster_shared(&counter, 0);
    *own = 2 * *own + (float)(all - (int)(cluster_size() * THREADS));
    meet();
}

/* The last block waits for a flag in its own shared memory, which the first one writes. */
__global__ void flag(float *x)
{
    __shared__ float data[THREADS];
    __shared__ unsigned ready;
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    const unsigned last = cluster_size() - 1;

    if (threadIdx.x == 0)
        ready = 0;
    data[threadIdx.x] = 1;
    meet();
    if (cluster_rank() == 0 && last > 0) {
        there(data, last)[threadIdx.x] = 3;
        __syncthreads();
        if (threadIdx.x == 0)
            cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*(unsigned *)cluster_shared(&ready, last))
                .store(1, cuda::memory_order_release);
    }
    if (cluster_rank() == last && last > 0) {
        while (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(ready).load(cuda::memory_order_acquire) == 0)
            ;
        data[threadIdx.x] -= 2;
    }
    *own = 2 * *own + data[threadIdx.x];
    meet();
}

/* Global memory, too, is handed over at the barrier. */
__global__ void global(float *x)
{
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    const unsigned other = blockIdx.x - cluster_rank() + (cluster_rank() + 1) % cluster_size();

    *own = 2 * *own;
    meet();
    x[other * THREADS + threadIdx.x] += 1;
}

__device__ static cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag_behind(float *x)
{
    return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*(unsigned *)(x + N));
}

/* What one block learns by a flag from another cluster, its own cluster learns from it. */
__global__ void handed_on(float *x)
{
    const unsigned last = gridDim.x - 1;
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    float one = 1;

    if (blockIdx.x == last)
        *own = 2 * *own + 1;
    __syncthreads();
    if (blockIdx.x == last && threadIdx.x == 0)
        flag_behind(x).store(1, cuda::memory_order_release);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        while (flag_behind(x).load(cuda::memory_order_acquire) == 0)
            ;
    meet();
    if (blockIdx.x == cluster_size() - 1)
        one = x[last * THREADS + threadIdx.x] - 2 * (float)(last * THREADS + threadIdx.x);
    if (blockIdx.x != last)
        *own = 2 * *own + one;
}

/* A cluster in a grid of three dimensions: x goes first. */
__global__ void places(float *x)
{
    const unsigned rank = blockIdx.x % 2 + 2 * (blockIdx.y % 3) + 6 * (blockIdx.z % 2);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    __shared__ unsigned ranks[12];

    meet();
    if (threadIdx.x < cluster_size())
        ((unsigned *)cluster_shared(ranks, threadIdx.x))[rank] = cluster_rank();
    meet();
    bool right = cluster_size() == 12;
    for (unsigned r = 0; r < 12; r++)
        right = right && ranks[r] == r;
    x[block * THREADS + threadIdx.x] = 2 * x[block * THREADS + threadIdx.x] + (float)right;
}

/* Nobody waits a second time: who has come may leave. */
__global__ void leaves(float *x)
{
    __shared__ float tile[THREADS];
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;

    meet();
    if (cluster_rank() == 1)
        there(tile, 0)[threadIdx.x] = 1;
    cluster_arrive();
    if (cluster_rank() == 0) {
        cluster_wait();
        *own = 2 * *own + (cluster_size() > 1 ? tile[threadIdx.x] : 1);
    } else {
        *own = 2 * *own + 1;
    }
}

/* Initialises two mbarriers, and tells all blocks of the cluster. */
__device__ static void begin_two(uint64_t *one, uint64_t *other)
{
    if (threadIdx.x == 0) {
        mbarrier_init(one, 1);
        mbarrier_init(other, 1);
        mbarrier_init_done();
    }
    meet();
}

/* In each round all blocks send a number to the first, which answers each with the next number. Who asks again has read
   the answer. */
__global__ void asks(float *x)
{
    __shared__ unsigned long long told[16], answer;
    __shared__ uint64_t all_told, answered;
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    unsigned long long number = blockIdx.x;

    begin_two(&all_told, &answered);
    for (unsigned round = 0; round < 5; round++) {
        if (threadIdx.x == 0) {
            mbarrier_expect(&answered, 8);
            cluster_send(&told[cluster_rank()], number, &all_told, 0);
        }
        if (cluster_rank() == 0 && threadIdx.x >= 32) {
            if (lane == 0)
                mbarrier_expect(&all_told, cluster_size() * 8);
            cluster_receive(&all_told, round % 2);
            if (lane < cluster_size())
                cluster_send(&answer, told[lane] + 1, &answered, lane);
        }
        cluster_receive(&answered, round % 2);
        number = answer;
        __syncthreads();
    }
    *own = 2 * *own + (float)(number - blockIdx.x) - 4;
}

/* A number goes around; only one warp of each block takes part, and no barrier but the first is of all threads. */
__global__ void goes_around(float *x)
{
    __shared__ unsigned long long number;
    __shared__ uint64_t come, unused;
    float *const own = x + blockIdx.x * THREADS + threadIdx.x;
    const unsigned next = (cluster_rank() + 1) % cluster_size();
    float all = (float)(5 * cluster_size());

    begin_two(&come, &unused);
    if (threadIdx.x < 32) {
        for (unsigned round = 0; round < 5; round++) {
            if (threadIdx.x == 0) {
                mbarrier_expect(&come, 8);
                if (cluster_rank() == 0)
                    cluster_send(&number, round == 0 ? 1 : number + 1, &come, next);
            }
            cluster_receive(&come, round % 2);
            if (threadIdx.x == 0 && cluster_rank() != 0)
                cluster_send(&number, number + 1, &come, next);
            __syncwarp();
        }
        all = (float)(number - cluster_rank() + (cluster_rank() == 0 ? 0 : cluster_size()));
    }
    *own = 2 * *own + 1 + all - (float)(5 * cluster_size());
}

/* ---- mistakes ---- */

__global__ void no_barrier(float *x)
{
    __shared__ float tile[THREADS];

    meet();
    tile[threadIdx.x] = 1;                                                             /* THERE no_barrier */
    x[blockIdx.x * THREADS + threadIdx.x] = there(tile, !cluster_rank())[threadIdx.x]; /* HERE no_barrier */
    meet();
}

__global__ void block_barrier(float *)
{
    __shared__ float tile[THREADS];

    meet();
    if (cluster_rank() == 0)
        tile[threadIdx.x] = 1; /* THERE block_barrier */
    __syncthreads();
    if (cluster_rank() == 1)
        there(tile, 0)[threadIdx.x] = 2; /* HERE block_barrier */
    meet();
}

__global__ void relaxed(float *x)
{
    __shared__ float tile[THREADS];

    tile[threadIdx.x] = 1; /* THERE relaxed */
    cluster_arrive_relaxed();
    cluster_wait();
    x[blockIdx.x * THREADS + threadIdx.x] = there(tile, !cluster_rank())[threadIdx.x]; /* HERE relaxed */
    meet();
}

/* What is written between the two is not known to those who wait. */
__global__ void after_arrival(float *x)
{
    __shared__ float tile[THREADS];

    cluster_arrive();
    tile[threadIdx.x] = 1; /* THERE after_arrival */
    cluster_wait();
    x[blockIdx.x * THREADS + threadIdx.x] = there(tile, !cluster_rank())[threadIdx.x]; /* HERE after_arrival */
    meet();
}

/* The next round's values come while the last one's are read. */
__global__ void no_way_back(float *x)
{
    __shared__ float tile[THREADS];

    meet();
    for (int round = 0; round < 2; round++) {
        there(tile, !cluster_rank())[threadIdx.x] = 1; /* HERE no_way_back */
        meet();
        x[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x]; /* THERE no_way_back */
    }
}

__global__ void global_race(float *x)
{
    meet();
    x[blockIdx.x * THREADS + threadIdx.x] = 1;   /* THERE global_race */
    x[!blockIdx.x * THREADS + threadIdx.x] += 1; /* HERE global_race */
}

__global__ void leaves_early(float *x)
{
    __shared__ float tile[THREADS];

    tile[threadIdx.x] = 1;
    meet();
    if (cluster_rank() == 1)
        x[blockIdx.x * THREADS + threadIdx.x] = there(tile, 0)[threadIdx.x]; /* HERE leaves_early */
}

/* The first block has long ended, and others have begun. */
__global__ void leaves_long_before(float *x)
{
    __shared__ float tile[THREADS];

    tile[threadIdx.x] = 1;
    meet();
    if (blockIdx.x == 2 && threadIdx.x == 0)
        flag_behind(x).store(1);
    if (blockIdx.x == 1) {
        while (flag_behind(x).load() == 0)
            ;
        x[threadIdx.x] = there(tile, 0)[threadIdx.x]; /* HERE leaves_long_before */
    }
}

__global__ void leaves_before_write(float *)
{
    __shared__ float tile[THREADS];

    meet();
    if (cluster_rank() == 0)
        there(tile, 1)[threadIdx.x] = 1; /* HERE leaves_before_write */
}

__global__ void not_begun(float *)
{
    __shared__ float tile[THREADS];

    there(tile, !cluster_rank())[threadIdx.x] = 1; /* HERE not_begun */
    meet();
}

__global__ void comes_twice(float *)
{
    cluster_arrive(); /* THERE comes_twice */
    cluster_arrive(); /* HERE comes_twice */
    cluster_wait();
}

__global__ void waits_only(float *)
{
    cluster_wait(); /* HERE waits_only */
}

__global__ void half_warp(float *)
{
    if (threadIdx.x % 32 < 5)
        cluster_arrive(); /* THERE half_warp */
    else
        cluster_arrive(); /* HERE half_warp */
    cluster_wait();
}

__global__ void block_skips(float *)
{
    if (cluster_rank() == 0) {
        cluster_arrive();
        cluster_wait(); /* HERE block_skips */
    }
}

__global__ void warp_skips(float *)
{
    if (threadIdx.x < 32 || cluster_rank() == 0) {
        cluster_arrive();
        cluster_wait(); /* HERE warp_skips */
    }
}

__global__ void elsewhere(float *)
{
    if (threadIdx.x < 32 || cluster_rank() == 0) {
        cluster_arrive();
        cluster_wait(); /* HERE elsewhere */
    }
    __syncthreads(); /* THERE elsewhere */
}

/* Each waits for the other: the first at the barrier, the second for what would come after it. */
__global__ void crossed(float *)
{
    __shared__ unsigned ready;

    if (threadIdx.x == 0)
        ready = 0;
    meet();
    if (cluster_rank() == 1)
        while (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(ready).load() == 0) /* HERE crossed */
            ;
    meet();
    if (cluster_rank() == 0)
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*(unsigned *)cluster_shared(&ready, 1)).store(1);
}

__global__ void past_end(float *)
{
    __shared__ float tile[THREADS];

    meet();
    there(tile, 1)[threadIdx.x + 1] = 1; /* HERE past_end */
    meet();
}

__global__ void past_dynamic(float *x)
{
    extern __shared__ float part[];

    meet();
    x[blockIdx.x * THREADS + threadIdx.x] = there(part, 1)[threadIdx.x]; /* HERE past_dynamic */
    meet();
}

__global__ void no_such_rank(float *)
{
    __shared__ float tile[THREADS];

    meet();
    there(tile, 2)[threadIdx.x] = 1;
    meet();
}

__global__ void of_global(float *x)
{
    meet();
    *there(x, 1) = 1;
    meet();
}

/* A pointer to shared memory means nothing in another cluster. */
__global__ void other_cluster(float *x)
{
    if (blockIdx.x < 2) {
        __shared__ float tile[THREADS];
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            *(float *volatile *)x = tile;
            flag_behind(x).store(1);
        }
        while (flag_behind(x).load() != 2)
            ;
    } else {
        while (flag_behind(x).load() == 0)
            ;
        (*(float *volatile *)x)[threadIdx.x] = 1; /* HERE other_cluster */
        flag_behind(x).store(2);
    }
}

__global__ void unwritten(float *x)
{
    __shared__ int number;

    meet();
    x[blockIdx.x * THREADS + threadIdx.x] = (float)*(int *)cluster_shared(&number, 1); /* HERE unwritten */
    meet();
}

__global__ void far_mbarrier(float *)
{
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0)
        mbarrier_init(&barrier, 1);
    meet();
    mbarrier_arrive((uint64_t *)cluster_shared(&barrier, !cluster_rank())); /* HERE far_mbarrier */
    meet();
}

__global__ void far_bulk_copy(float *x)
{
    __shared__ __align__(16) float tile[THREADS];
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_init_done();
    }
    meet();
    tma_load(there(tile, !cluster_rank()), x, 16, &barrier); /* HERE far_bulk_copy */
    meet();
}

__global__ void far_copy(float *x)
{
    __shared__ float tile[THREADS];

    meet();
    __pipeline_memcpy_async(there(tile, !cluster_rank()) + threadIdx.x, x + threadIdx.x, 4); /* HERE far_copy */
    meet();
}

__global__ void sends_too_early(float *)
{
    __shared__ uint64_t told, word;

    if (threadIdx.x == 0) {
        mbarrier_init(&told, 1);
        mbarrier_init_done();
        cluster_send(&word, 1, &told, !cluster_rank()); /* HERE sends_too_early */
    }
    meet();
}

__global__ void sends_unshown(float *)
{
    __shared__ uint64_t told, word;

    if (threadIdx.x == 0)
        mbarrier_init(&told, 1);
    meet();
    if (threadIdx.x == 0)
        cluster_send(&word, 1, &told, !cluster_rank()); /* HERE sends_unshown */
    meet();
}

__global__ void sends_to_nothing(float *)
{
    __shared__ uint64_t told, word;

    meet();
    if (threadIdx.x == 0)
        cluster_send(&word, 1, &told, !cluster_rank()); /* HERE sends_to_nothing */
    meet();
}

/* Both blocks send to the other one, which waits by mbarrier_wait. */
__global__ void waits_nearby(float *)
{
    __shared__ uint64_t told, unused, word;

    begin_two(&told, &unused);
    if (threadIdx.x == 0) {
        mbarrier_expect(&told, 8);
        cluster_send(&word, 1, &told, !cluster_rank());
    }
    mbarrier_wait(&told, 0); /* HERE waits_nearby */
    meet();
}

__global__ void reads_too_early(float *x)
{
    __shared__ uint64_t told, unused, word;

    begin_two(&told, &unused);
    if (threadIdx.x == 0 && cluster_rank() == 0)
        cluster_send(&word, 1, &told, 1); /* THERE reads_too_early */
    meet();
    if (cluster_rank() == 1) {
        x[threadIdx.x] = (float)word; /* HERE reads_too_early */
        mbarrier_expect(&told, 8);
        cluster_receive(&told, 0);
    }
}

__global__ void sends_too_little(float *)
{
    __shared__ uint64_t told, unused, words[2];

    begin_two(&told, &unused);
    if (threadIdx.x == 0) {
        mbarrier_expect(&told, 16);
        cluster_send(&words[0], 1, &told, !cluster_rank());
    }
    cluster_receive(&told, 0); /* HERE sends_too_little */
    meet();
}

__global__ void sends_too_much(float *)
{
    __shared__ uint64_t told, unused, words[2];

    begin_two(&told, &unused);
    if (threadIdx.x == 0)
        cluster_send(&words[0], 1, &told, !cluster_rank());
    __syncwarp();
    if (threadIdx.x == 0)
        cluster_send(&words[1], 1, &told, !cluster_rank()); /* THERE sends_too_much */
    meet();
    if (threadIdx.x == 0)
        mbarrier_expect(&told, 8);
    cluster_receive(&told, 0); /* HERE sends_too_much */
}

/* Nobody waits for what is sent. */
__global__ void sends_in_vain(float *)
{
    __shared__ uint64_t told, unused, word;

    begin_two(&told, &unused);
    if (threadIdx.x == 0 && cluster_rank() == 0)
        cluster_send(&word, 1, &told, 1); /* HERE sends_in_vain */
}

/* The next number comes while the last one is read. */
__global__ void sends_again(float *x)
{
    __shared__ uint64_t told, unused, word;

    begin_two(&told, &unused);
    for (unsigned round = 0; round < 2; round++) {
        if (threadIdx.x == 0) {
            mbarrier_expect(&told, 8);
            cluster_send(&word, round, &told, !cluster_rank()); /* HERE sends_again */
        }
        cluster_receive(&told, round);
        x[blockIdx.x * THREADS + threadIdx.x] = (float)word; /* THERE sends_again */
    }
}

__global__ void sends_to_half(float *)
{
    __shared__ uint64_t told, unused;
    __shared__ unsigned words[4];

    begin_two(&told, &unused);
    cluster_send(&words[1], 1, &told, 1); /* HERE sends_to_half */
    meet();
}

__global__ void plain(float *x)
{
    x[blockIdx.x * THREADS + threadIdx.x] = 1;
}

/* ---- which one ---- */

static int judge(const float *x)
{
    static float h[N];

    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        if (h[i] != 2 * (float)i + 1) {
            printf("wrong: x[%d] is %g\n", i, h[i]);
            return 1;
        }
    puts("right");
    return 0;
}

int main(int argc, char **argv)
{
    sim_end_at_wrong_launch(true);
    const char *const name = argc > 1 ? argv[1] : "";
    const unsigned size = argc > 2 ? (unsigned)atoi(argv[2]) : 2, grid = N / THREADS;
    static float h[N];
    float *x;

    for (int i = 0; i < N; i++)
        h[i] = (float)i;
    cudaMalloc(&x, sizeof(h) + sizeof(unsigned));
    cudaMemset(x + N, 0, sizeof(unsigned));
    cudaMemcpy(x, h, sizeof(h), cudaMemcpyHostToDevice);
#define RIGHT(kernel)                                                                                                  \
    if (strcmp(name, #kernel) == 0) {                                                                                  \
        launch(kernel, x, grid, size, size > 8, THREADS * sizeof(float));                                              \
        return judge(x);                                                                                               \
    }
#define WRONG(kernel)                                                                                                  \
    if (strcmp(name, #kernel) == 0)                                                                                    \
        launch(kernel, x, 4, 2, false, THREADS / 2 * sizeof(float));
    RIGHT(exchange)
    RIGHT(tell_all)
    RIGHT(ring)
    RIGHT(count)
    RIGHT(flag)
    RIGHT(global)
    RIGHT(handed_on)
    RIGHT(leaves)
    RIGHT(asks)
    RIGHT(goes_around)
    if (strcmp(name, "places") == 0) {
        launch(places, x, dim3(4, 3, 4), dim3(2, 3, 2), true, 0);
        return judge(x);
    }
    if (strcmp(name, "alone") == 0) { /* without the attribute each block is a cluster */
        exchange<<<grid, THREADS>>>(x);
        return judge(x);
    }
    WRONG(no_barrier)
    WRONG(block_barrier)
    WRONG(relaxed)
    WRONG(after_arrival)
    WRONG(no_way_back)
    WRONG(global_race)
    WRONG(leaves_early)
    WRONG(leaves_long_before)
    WRONG(leaves_before_write)
    WRONG(not_begun)
    WRONG(comes_twice)
    WRONG(waits_only)
    WRONG(half_warp)
    WRONG(block_skips)
    WRONG(warp_skips)
    WRONG(elsewhere)
    WRONG(crossed)
    WRONG(past_end)
    WRONG(past_dynamic)
    WRONG(no_such_rank)
    WRONG(of_global)
    WRONG(other_cluster)
    WRONG(unwritten)
    WRONG(far_mbarrier)
    WRONG(far_bulk_copy)
    WRONG(far_copy)
    WRONG(sends_too_early)
    WRONG(sends_unshown)
    WRONG(sends_to_nothing)
    WRONG(waits_nearby)
    WRONG(reads_too_early)
    WRONG(sends_too_little)
    WRONG(sends_too_much)
    WRONG(sends_in_vain)
    WRONG(sends_again)
    WRONG(sends_to_half)
    if (strcmp(name, "in_part") == 0)
        launch(plain, x, 5, 2, false, 0);
    if (strcmp(name, "none") == 0)
        launch(plain, x, 4, dim3(2, 0, 1), false, 0);
    if (strcmp(name, "nine") == 0)
        launch(plain, x, 9, 9, false, 0);
    if (strcmp(name, "nine_allowed") == 0)
        launch(plain, x, 9, 9, true, 0);
    cudaDeviceSynchronize();
    if (strcmp(name, "seventeen") == 0)
        launch(plain, x, 17, 17, true, 0);
    return 0;
}
