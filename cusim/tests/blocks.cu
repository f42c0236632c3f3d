/* SPDX-License-Identifier: MIT */
/* blocks.cu - blocks that wait for each other. `blocks NAME` runs one kernel over tiles of numbers and says whether the
   result is right; blocks.t knows what must be said of it. Marks in comments name lines, as in wrong.cu. */
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffffffu
#define THREADS 64
#define TILES 100

enum { EMPTY, TOTAL, PREFIX };

/* What the tiles tell each other. All of it is 0 at first. */
struct board {
    unsigned ticket;
    int flags[TILES];
    int totals[TILES], prefixes[TILES];
    uint4 descriptors[TILES]; /* x: EMPTY, TOTAL or PREFIX; y: that sum */
};

/* Sum of the block's values: for all threads. */
__device__ static int block_sum(int value)
{
    __shared__ int sum;

    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, value);
    __syncthreads();
    return sum;
}

/* The number of the tile that this block takes: the next one, or, without a ticket, its own. */
__device__ static unsigned take_tile(struct board *b, int ticket)
{
    __shared__ unsigned tile;

    if (threadIdx.x == 0)
        tile = ticket ? atomicAdd(&b->ticket, 1u) : blockIdx.x;
    __syncthreads();
    return tile;
}

__device__ static void write_sums(int *out, unsigned tile, int before, int total)
{
    out[tile * THREADS + threadIdx.x] = before + total;
}

/* Each tile waits for the one before. What may be missing: the ticket, the fences, the order of data and flag, and the
   barriers around what thread 0 does. */
enum {
    NO_TICKET = 1,
    NO_RELEASE = 2,
    NO_ACQUIRE = 4,
    FLAG_FIRST = 8,
    BLOCK_RELEASE = 16,
    BLOCK_ACQUIRE = 32,
    NO_BARRIER = 64,
    BACKWARDS = 128
};
template <int wrong>
__global__ void chained(struct board *b, const int *in, int *out)
{
    __shared__ int before;
    volatile int *const flags = b->flags;
    const unsigned tile = take_tile(b, !(wrong & NO_TICKET));
    const int total = block_sum(in[tile * THREADS + threadIdx.x]);
    const unsigned other = wrong & BACKWARDS ? tile + 1 : tile - 1;

    if (threadIdx.x == 0) {
        before = 0;
        if (wrong & BACKWARDS ? tile < TILES - 1 : tile > 0) {
            while (flags[other] != PREFIX) /* THERE no_acquire */ /* HERE no_ticket */ /* HERE backwards */
                ;
            if (wrong & BLOCK_ACQUIRE)
                __threadfence_block();
            else if (!(wrong & NO_ACQUIRE))
                __threadfence();
            before = b->prefixes[other]; /* HERE no_release */ /* HERE no_acquire */ /* HERE flag_first */
        }
        if (wrong & FLAG_FIRST) {
            __threadfence();
            flags[tile] = PREFIX; /* THERE flag_first */
            __threadfence();
        }
        b->prefixes[tile] = before + total;
        if (wrong & BLOCK_RELEASE)
            __threadfence_block();
        else if (!(wrong & NO_RELEASE))
            __threadfence();
        if (!(wrong & FLAG_FIRST))
            flags[tile] = PREFIX; /* THERE no_release */
    }
    if (!(wrong & NO_BARRIER))
        __syncthreads();
    write_sums(out, tile, before, total); /* HERE no_barrier */
}

/* Data of all threads: a barrier must come before the flag that thread 0 writes, and after the one that it reads. */
template <int first, int second>
__global__ void all_data(struct board *b, const int *in, int *out, int *data)
{
    const unsigned tile = take_tile(b, 1), i = tile * THREADS + threadIdx.x;

    data[i] = in[i];
    if (first)
        __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        ((volatile int *)b->flags)[tile] = PREFIX;                         /* THERE no_first_barrier */
        while (tile > 0 && ((volatile int *)b->flags)[tile - 1] != PREFIX) /* THERE no_second_barrier */
            ;
        __threadfence();
    }
    if (second)
        __syncthreads();
    out[i] = tile > 0 ? data[i - THREADS + 1] : 0; /* HERE no_first_barrier */ /* HERE no_second_barrier */
}

/* Thread 0 looks back: it adds up totals until it meets a prefix. */
template <int skip>
__global__ void lookback(struct board *b, const int *in, int *out)
{
    __shared__ int before;
    const unsigned tile = take_tile(b, 1);
    const int total = block_sum(in[tile * THREADS + threadIdx.x]);
    typedef cuda::atomic_ref<int, cuda::thread_scope_device> reference;

    if (threadIdx.x == 0) {
        int sum = 0;
        reference mine(b->flags[tile]);

        b->totals[tile] = total;
        mine.store(TOTAL, cuda::memory_order_release);
        for (int at = (int)tile - 1; at >= 0; at -= 1 + skip) {
            int flag;
            while ((flag = reference(b->flags[at]).load(cuda::memory_order_acquire)) == EMPTY)
                __nanosleep(20);
            sum += flag == PREFIX ? b->prefixes[at] : b->totals[at];
            if (flag == PREFIX)
                break;
        }
        b->prefixes[tile] = sum + total;
        mine.store(PREFIX, cuda::memory_order_release);
        before = sum;
    }
    __syncthreads();
    write_sums(out, tile, before, total);
}

/* The same with memory_order_relaxed: what the flag tells of is not there yet. */
template <cuda::memory_order writes, cuda::memory_order reads>
__global__ void relaxed(struct board *b, int *out)
{
    typedef cuda::atomic_ref<int, cuda::thread_scope_device> reference;

    if (blockIdx.x == 0 && threadIdx.x == 0) {
        b->totals[0] = 7;
        reference(b->flags[0]).store(TOTAL, writes); /* THERE relaxed_store */
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (reference(b->flags[0]).load(reads) != TOTAL) /* THERE relaxed_load */
            ;
        out[0] = b->totals[0]; /* HERE relaxed_store */ /* HERE relaxed_load */
    }
}

/* A warp looks back over 32 descriptors at once, each written and read as 16 bytes: flag and sum are always of one
   moment, so nothing needs a fence. */
__global__ void descriptors(struct board *b, const int *in, int *out)
{
    __shared__ int before;
    const unsigned tile = take_tile(b, 1);
    const int total = block_sum(in[tile * THREADS + threadIdx.x]);

    if (threadIdx.x < 32) {
        int sum = 0;

        if (threadIdx.x == 0)
            __stcg(&b->descriptors[tile], make_uint4(tile == 0 ? PREFIX : TOTAL, (unsigned)total, 0, 0));
        for (int last = (int)tile - 1; last >= 0; last -= 32) {
            const int at = last - (int)threadIdx.x;
            uint4 d = make_uint4(PREFIX, 0, 0, 0);
            do {
                if (at >= 0)
                    d = __ldcg(&b->descriptors[at]);
            } while (__any_sync(ALL, d.x == EMPTY));
            const unsigned prefixes = __ballot_sync(ALL, d.x == PREFIX);
            const int nearest = prefixes != 0 ? __ffs((int)prefixes) - 1 : 31;
            sum += __reduce_add_sync(ALL, (int)threadIdx.x <= nearest ? (int)d.y : 0);
            if (prefixes != 0)
                break;
        }
        if (threadIdx.x == 0) {
            __stcg(&b->descriptors[tile], make_uint4(PREFIX, (unsigned)(sum + total), 0, 0));
            before = sum;
        }
    }
    __syncthreads();
    write_sums(out, tile, before, total);
}

/* A lock that a thread of each block takes. */
__global__ void lock(struct board *b, const int *in, int *out)
{
    const unsigned tile = take_tile(b, 1);
    const int total = block_sum(in[tile * THREADS + threadIdx.x]);

    if (threadIdx.x == 0) {
        while (atomicCAS(&b->flags[0], 0, 1) != 0)
            ;
        __threadfence();
        b->totals[0] += total;
        __threadfence();
        atomicExch(&b->flags[0], 0);
    }
    out[tile * THREADS + threadIdx.x] = 0;
}

/* All blocks wait for all: right as long as they fit the device. Thread 0 tells the others by shared memory. */
__global__ void grid_barrier(struct board *b, int *out)
{
    __shared__ int ready;
    int done;

    if (threadIdx.x == 0) {
        b->totals[blockIdx.x] = (int)blockIdx.x + 1;
        __threadfence();
        atomicAdd(&b->ticket, 1u);
    }
    do {
        if (threadIdx.x == 0)
            ready = *(volatile unsigned *)&b->ticket == gridDim.x; /* HERE grid_too_large */
        __syncthreads();
        done = ready;
        __syncthreads();
    } while (!done);
    __threadfence();
    if (threadIdx.x == 0)
        out[blockIdx.x] = b->totals[gridDim.x - 1 - blockIdx.x];
}

/* The flag is no flag: a plain word. */
__global__ void plain_flag(struct board *b, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        b->totals[0] = 7;
        __threadfence();
        b->flags[0] = TOTAL; /* THERE plain_flag */
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (((volatile int *)b->flags)[0] != TOTAL) /* HERE plain_flag */
            ;
        __threadfence();
        out[0] = b->totals[0];
    }
}

/* As the Programming Guide adds to a double; and one that reads, does something else, and then compares. */
template <int late>
__global__ void guide(struct board *b, int *out)
{
    int *place = &b->totals[0], old = *place, assumed; /* HERE late_compare_and_swap */

    if (late)
        out[blockIdx.x * blockDim.x + threadIdx.x] = 0;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, assumed + 1); /* THERE late_compare_and_swap */
    } while (assumed != old);
}

static struct board *board, copy;
static int in[TILES * THREADS], out[TILES * THREADS], *d_in, *d_out, *d_data;

/* Each thread's tile and all before it. */
static bool sums_right(void)
{
    int sum = 0;

    for (int tile = 0; tile < TILES; tile++) {
        for (int i = 0; i < THREADS; i++)
            sum += in[tile * THREADS + i];
        for (int i = 0; i < THREADS; i++)
            if (out[tile * THREADS + i] != sum)
                return false;
    }
    return true;
}

static int sum_of(const int *numbers)
{
    int sum = 0;

    for (int i = 0; i < TILES * THREADS; i++)
        sum += numbers[i];
    return sum;
}

static bool neighbours_right(void)
{
    for (int i = THREADS; i < TILES * THREADS - 1; i++)
        if (i % THREADS < THREADS - 1 && out[i] != in[i - THREADS + 1])
            return false;
    return true;
}

static void fetch(void)
{
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaMemcpy(&copy, board, sizeof(copy), cudaMemcpyDeviceToHost);
}

/* A launch of grid_barrier that says that all its blocks must be resident: what the launch returns, and whether
   anything ran; and the limit that the device names. */
static void launch_cooperatively(unsigned blocks)
{
    int can = 0, fit = 0;
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(THREADS);
    config.attrs = &together;
    config.numAttrs = 1;
    cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, grid_barrier, THREADS, 0);
    const cudaError_t error = cudaLaunchKernelEx(&config, grid_barrier, board, d_out);
    printf("%d, %d for each, %s, ", can, fit, cudaGetErrorName(error));
    fflush(stdout);
    fetch();
    printf("%u ran, ", copy.ticket);
    if (cudaGetLastError() != error)
        puts("another error is left");
}

#define CASE(name, launch, right)                                                                                      \
    if (strcmp(argv[1], #name) == 0) {                                                                                 \
        launch;                                                                                                        \
        fetch();                                                                                                       \
        puts((right) ? "right" : "wrong");                                                                             \
        return 0;                                                                                                      \
    }
#define CHAINED(name, what) CASE(name, (chained<what><<<TILES, THREADS>>>(board, d_in, d_out)), sums_right())

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int i = 0; i < TILES * THREADS; i++)
        in[i] = i * 7 % 11 - 3;
    cudaMalloc(&board, sizeof(*board));
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&d_out, sizeof(out));
    cudaMalloc(&d_data, sizeof(in));
    cudaMemset(board, 0, sizeof(*board));
    cudaMemset(d_out, 0, sizeof(out));
    cudaMemset(d_data, 0, sizeof(in));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);

    CHAINED(chained, 0)
    CHAINED(no_ticket, NO_TICKET)
    CHAINED(no_release, NO_RELEASE)
    CHAINED(no_acquire, NO_ACQUIRE)
    CHAINED(flag_first, FLAG_FIRST | NO_RELEASE)
    CHAINED(block_release, BLOCK_RELEASE)
    CHAINED(block_acquire, BLOCK_ACQUIRE)
    CHAINED(no_barrier, NO_BARRIER)
    CHAINED(backwards, BACKWARDS)
    CASE(all_data, (all_data<1, 1><<<TILES, THREADS>>>(board, d_in, d_out, d_data)), neighbours_right())
    CASE(no_first_barrier, (all_data<0, 1><<<TILES, THREADS>>>(board, d_in, d_out, d_data)), neighbours_right())
    CASE(no_second_barrier, (all_data<1, 0><<<TILES, THREADS>>>(board, d_in, d_out, d_data)), neighbours_right())
    CASE(lookback, (lookback<0><<<TILES, THREADS>>>(board, d_in, d_out)), sums_right())
    CASE(skips, (lookback<1><<<TILES, THREADS>>>(board, d_in, d_out)), sums_right())
    CASE(relaxed_store, (relaxed<cuda::memory_order_relaxed, cuda::memory_order_acquire><<<2, THREADS>>>(board, d_out)),
         out[0] == 7)
    CASE(relaxed_load, (relaxed<cuda::memory_order_release, cuda::memory_order_relaxed><<<2, THREADS>>>(board, d_out)),
         out[0] == 7)
    CASE(release_acquire,
         (relaxed<cuda::memory_order_release, cuda::memory_order_acquire><<<2, THREADS>>>(board, d_out)), out[0] == 7)
    CASE(descriptors, (descriptors<<<TILES, THREADS>>>(board, d_in, d_out)), sums_right())
    CASE(lock, (lock<<<TILES, THREADS>>>(board, d_in, d_out)), copy.totals[0] == sum_of(in))
    CASE(grid_barrier, (grid_barrier<<<16, THREADS>>>(board, d_out)), out[0] == 16 && out[15] == 1)
    CASE(grid_too_large, (grid_barrier<<<TILES, THREADS>>>(board, d_out)), out[0] == TILES)
    CASE(cooperative, launch_cooperatively(16), copy.ticket == 0 || (out[0] == 16 && out[15] == 1))
    CASE(cooperative_too_large, launch_cooperatively(TILES), copy.ticket == 0)
    CASE(plain_flag, (plain_flag<<<2, THREADS>>>(board, d_out)), out[0] == 7)
    CASE(guide, (guide<0><<<4, THREADS>>>(board, d_out)), copy.totals[0] == 4 * THREADS)
    CASE(late_compare_and_swap, (guide<1><<<4, THREADS>>>(board, d_out)), copy.totals[0] == 4 * THREADS)
    fprintf(stderr, "blocks: no kernel %s\n", argv[1]);
    return 2;
}
