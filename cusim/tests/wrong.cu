/* SPDX-License-Identifier: MIT */
/* wrong.cu - one mistake a kernel. `wrong NAME` runs kernel NAME; sim.t knows what must be said of it, and on which
   line: the one with the comment HERE NAME. (THERE NAME: a second line that the message names.) */
#include <sim_tma.h>
#include <sim_named_barrier.h>

#include <assert.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counts.h"
#include "elsewhere.cuh"

#define ALL 0xffffffffu
#define N 100 /* elements of x: 400 bytes */

/* ---- the order of execution itself ---- */

__global__ void tickets(float *x, int *last)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = (float)atomicAdd(last, 1);
}

static void print_tickets(float *x)
{
    int *last;
    float ticket[96];

    cudaMalloc(&last, sizeof(*last));
    cudaMemset(last, 0, sizeof(*last));
    tickets<<<2, 48>>>(x, last);
    cudaMemcpy(ticket, x, sizeof(ticket), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 96; i++)
        printf("%g ", ticket[i]);
    exit(0);
}

/* ---- races: on a GPU, or in another order of execution, wrong results ---- */

__global__ void missing_barrier(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1;                           /* HERE missing_barrier */
    const float one = __shfl_xor_sync(ALL, 1.0f, 1); /* warps that take turns here would hide the mistake */
    x[threadIdx.x] = one * tile[63 - threadIdx.x];   /* THERE missing_barrier */
}

__global__ void missing_syncwarp(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1;                  /* HERE missing_syncwarp */
    x[threadIdx.x] = tile[threadIdx.x ^ 1]; /* THERE missing_syncwarp */
}

/* A shuffle makes the lanes wait for each other, but orders no memory. */
__global__ void shuffle_orders_nothing(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1; /* THERE shuffle_orders_nothing */
    const float one = __shfl_xor_sync(ALL, 1.0f, 1);
    x[threadIdx.x] = one * tile[threadIdx.x ^ 1]; /* HERE shuffle_orders_nothing */
}

/* Nor does it between warps, where __syncwarp() does not reach. */
__global__ void syncwarp_across_warps(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1; /* HERE syncwarp_across_warps */
    __syncwarp();
    x[threadIdx.x] = tile[threadIdx.x ^ 32]; /* THERE syncwarp_across_warps */
}

/* The aggregates of a scan are read, and overwritten in the next round: the barrier after reading is missing. */
__global__ void missing_second_barrier(float *x, int)
{
    __shared__ float total[2];
    float sum = 0;

    for (int round = 0; round < 2; round++) {
        if (threadIdx.x % 32 == 0)
            total[threadIdx.x / 32] = 1; /* THERE missing_second_barrier */
        __syncthreads();
        sum += total[0] + total[1]; /* HERE missing_second_barrier */
        __syncwarp();
    }
    x[threadIdx.x] = sum;
}

__global__ void half_syncwarp(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1; /* THERE half_syncwarp */
    __syncwarp(threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000);
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
    __syncwarp(threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000);
    x[threadIdx.x] = tile[threadIdx.x ^ 16]; /* HERE half_syncwarp */
}

__global__ void two_blocks(float *x, int)
{
    x[threadIdx.x] = (float)blockIdx.x; /* HERE two_blocks */
}

__global__ void neighbour_block(float *x, int)
{
    x[64 * blockIdx.x + threadIdx.x] = (float)threadIdx.x; /* THERE neighbour_block */
    if (blockIdx.x == 1 && threadIdx.x == 0)
        x[99] = x[0]; /* HERE neighbour_block */
}

__global__ void plain_beside_atomic(float *x, int)
{
    atomicAdd(&x[0], 1.0f);    /* HERE plain_beside_atomic */
    x[threadIdx.x + 1] = x[0]; /* THERE plain_beside_atomic */
}

/* One step too many in rows of 10. */
__global__ void row_past_end(float *x, int)
{
    for (int l = 0; l <= 10; l++)
        x[10 * threadIdx.x + l] = (float)threadIdx.x; /* HERE row_past_end */
}

/* The flag tells nothing without a fence before it, and nothing without a fence after it. */
template <int first, int second>
__global__ void flag_without_fence(float *x, int)
{
    __shared__ volatile int flag;

    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        x[0] = 1; /* THERE flag_without_fence */
        if (first)
            __threadfence();
        flag = 1;
    }
    while (threadIdx.x == 1 && flag == 0) /* THERE flag_read */
        __nanosleep(1);
    if (second)
        __threadfence();
    if (threadIdx.x == 1)
        x[1] = x[0]; /* HERE flag_without_fence */
}

__global__ void wait_is_no_barrier(float *x, int)
{
    __shared__ float tile[64];

    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float)); /* HERE wait_is_no_barrier */
    __pipeline_commit();
    __pipeline_wait_prior(0);
    x[threadIdx.x] = tile[threadIdx.x ^ 1]; /* THERE wait_is_no_barrier */
}

/* Sets out for a stage that others still read. */
__global__ void early_copy(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];                             /* HERE early_copy */
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[64], sizeof(float)); /* THERE early_copy */
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

__global__ void missing_wait(float *x, int)
{
    __shared__ float tile[64];

    x[threadIdx.x] = 1;
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float)); /* THERE missing_wait */
    __pipeline_commit();
    if (threadIdx.x >= 32)
        __pipeline_wait_prior(0); /* the first warp does not wait */
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x]; /* HERE missing_wait */
}

/* ---- barriers ---- */

__global__ void divergent_barrier(float *x, int)
{
    if (threadIdx.x < 32) {
        x[threadIdx.x] = 1;
        __syncthreads(); /* HERE divergent_barrier */
    } else {
        __syncthreads(); /* THERE divergent_barrier */
    }
}

__global__ void barrier_in_branch(float *x, int)
{
    if (threadIdx.x < 40)
        __syncthreads(); /* HERE barrier_in_branch */
    x[threadIdx.x] = 1;
    __syncthreads(); /* THERE barrier_in_branch */
}

template <int E>
__global__ void barrier_after_return(float *x, int)
{
    if (threadIdx.x >= 60)
        return;
    x[threadIdx.x] = E;
    __syncthreads(); /* HERE barrier_after_return */
}

/* ---- warps ---- */

__global__ void partial_shuffle(float *x, int)
{
    float v = 1;

    if (threadIdx.x % 32 < 20)
        v = __shfl_up_sync(ALL, v, 1); /* HERE partial_shuffle */
    __syncthreads();                   /* THERE partial_shuffle */
    x[threadIdx.x] = v;
}

__global__ void exited_shuffle(float *x, int)
{
    if (threadIdx.x == 33)
        return;
    x[threadIdx.x] = __shfl_down_sync(ALL, 1.0f, 1); /* HERE exited_shuffle */
}

__global__ void exited_vote(float *x, int)
{
    if (threadIdx.x == 0)
        return;
    x[threadIdx.x] = (float)__ballot_sync(ALL, 1); /* HERE exited_vote */
}

__global__ void missing_lane(float *x, int)
{
    x[threadIdx.x] = __shfl_xor_sync(ALL, 1.0f, 16); /* HERE missing_lane */
}

/* The second stage of a sum: the distances begin with 16, but only 4 lanes are in the mask. */
__global__ void undefined_sum(float *x, int)
{
    const unsigned mask = __ballot_sync(ALL, threadIdx.x < 4);
    int v = 1;

    for (int d = 16; d > 0 && threadIdx.x < 4; d /= 2)
        v += __shfl_down_sync(mask, v, d); /* HERE undefined_sum */
    if (threadIdx.x == 0)
        x[0] = (float)v;
}

/* The first lane takes places for all, but is not among those that ask. */
__global__ void undefined_index(float *x, int)
{
    const unsigned mask = __ballot_sync(ALL, threadIdx.x > 3);

    if (threadIdx.x > 3) {
        const int first = __shfl_sync(mask, 0, 0); /* THERE undefined_index */
        x[first + threadIdx.x] = 1;                /* HERE undefined_index */
    }
}

/* A scan whose lanes leave out of the mask whom they read from. */
__global__ void undefined_scan(float *x, int)
{
    int *const sums = (int *)x, lane = threadIdx.x;
    int v = 1;

    for (int d = 1; d < 32; d *= 2)
        if (lane >= d)
            v += __shfl_up_sync(ALL << d, v, d); /* HERE undefined_scan */
    sums[lane] = v;                              /* THERE undefined_scan */
}

/* The same by floats: 31 lanes add up, and lane 15 reads from the one that has left. */
__global__ void undefined_total(float *x, int)
{
    float v = 1;

    if (threadIdx.x == 31)
        return;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(ALL, v, d); /* HERE undefined_total */
    if (threadIdx.x == 0)
        atomicAdd(x, v);
}

/* ---- what is no error, and gets a remark ---- */

__global__ void same_value(float *x, int)
{
    x[0] = 1; /* HERE same_value */
}

/* Each block writes what the other one has written: it lacks blockIdx. */
__global__ void lacks_block(float *x, int)
{
    x[threadIdx.x] = (float)threadIdx.x; /* HERE lacks_block */
}

/* Is it worth an atomic? The plain read is not strong. */
__global__ void asks_first(float *x, int)
{
    int *const most = (int *)x, v = (int)(threadIdx.x * 31 % 64);

    if (v > *most)          /* HERE asks_first */
        atomicMax(most, v); /* THERE asks_first */
}

/* A place in a list, read before the atomic that counts it. */
__global__ void takes_count(float *x, int)
{
    int *const count = (int *)x;
    const int place = *count; /* HERE takes_count */

    atomicAdd(count, 1); /* THERE takes_count */
    if (place < 64)
        x[1 + place] = 1;
}

/* ---- volatile words ---- */

/* A sum over a warp that relies on lanes which go in step. */
__global__ void volatile_sum(float *x, int)
{
    volatile float *const v = x;
    const int i = threadIdx.x;

    v[i] += v[i + 16]; /* HERE volatile_sum */
    v[i] += v[i + 8];  /* THERE volatile_sum */
}

/* ---- advice by the case ---- */

__global__ void adds_plainly(float *x, int)
{
    x[0] += (float)threadIdx.x; /* HERE adds_plainly */
}

/* The second of two arrays begins in the middle of the first one. */
__global__ void overlapping(float *x, int)
{
    extern __shared__ float both[];
    float *const first = both, *const second = both + 32;

    first[threadIdx.x] = x[threadIdx.x]; /* HERE overlapping */
    second[threadIdx.x] = 2;             /* THERE overlapping */
    __syncthreads();
    x[threadIdx.x] = first[63 - threadIdx.x] + second[threadIdx.x];
}

/* The last block adds up what the others have stored: they count, but come to no fence. */
__global__ void last_block(float *x, int)
{
    int *const count = (int *)x + 64;

    if (threadIdx.x != 0)
        return;
    x[blockIdx.x] = 1;                             /* THERE last_block */
    if (atomicAdd(count, 1) == (int)gridDim.x - 1) /* THERE last_counter */
        x[2] = x[0] + x[1];                        /* HERE last_block */
}

/* A lock that is given back by a plain store. */
__global__ void plain_unlock(float *x, int)
{
    int *const lock = (int *)x;

    while (atomicCAS(lock, 0, 1) != 0) { /* HERE plain_unlock */
    }
    *lock = 0; /* THERE plain_unlock */
}

namespace
{
/* Rows lie a pitch apart, and not as far as they are long. */
__global__ void rows_without_pitch(const float *from, float *x)
{
    x[threadIdx.x] = from[blockIdx.x * 30 + threadIdx.x % 30]; /* HERE rows_without_pitch */
}
} // namespace

/* Block 1 waits for block 0, which tells it with no fence. */
__global__ void handover(float *x, int)
{
    volatile float *const data = x, *const flag = x + 64;

    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        data[0] = 1; /* THERE handover */
        flag[0] = 1;
    } else {
        while (flag[0] == 0) { /* THERE handover_flag */
        }
        __threadfence();
        x[1] = data[0]; /* HERE handover */
    }
}

__global__ void not_in_mask(float *x, int)
{
    x[threadIdx.x] = __shfl_sync(0xffff, 1.0f, 0); /* HERE not_in_mask */
}

__global__ void other_mask(float *x, int)
{
    x[threadIdx.x] = __shfl_sync(threadIdx.x % 2 ? ALL : ALL >> 1, 1.0f, 0); /* HERE other_mask */
}

__global__ void other_call(float *x, int)
{
    if (threadIdx.x % 32 == 0)
        __syncwarp(); /* HERE other_call */
    else
        x[threadIdx.x] = __shfl_xor_sync(ALL, 1.0f, 1); /* THERE other_call */
}

__global__ void bad_width(float *x, int width)
{
    x[threadIdx.x] = __shfl_up_sync(ALL, 1.0f, 1, width + 12); /* HERE bad_width */
}

/* ---- memory ---- */

template <int E>
__global__ void read_past_end(float *x, int)
{
    if (x[threadIdx.x + 65 - E] == 5) /* HERE read_past_end */
        x[0] = 1;
}

__global__ void write_past_end(float *x, int)
{
    ((float2 *)x)[threadIdx.x] = make_float2(1, 2); /* HERE write_past_end */
}

__global__ void write_in_slack(float *x, int)
{
    if (threadIdx.x < 2)
        x[threadIdx.x - 1 + N - 1] = 1; /* HERE write_in_slack */
}

__global__ void wide_past_end(float *x, int)
{
    const float4 last = __ldcg((const float4 *)(x + 4 * threadIdx.x)); /* HERE wide_past_end */

    if (last.x == 5)
        x[0] = 1;
}

__global__ void memcpy_past_end(float *x, int n)
{
    float local[2 * N];

    memcpy(local, x, (size_t)n * sizeof(float)); /* HERE memcpy_past_end */
    x[0] = local[n - 1];
}

__global__ void write_before(float *x, int)
{
    (x - 2)[threadIdx.x] = 1; /* HERE write_before */
}

__global__ void use_after_free(float *x, int)
{
    x[threadIdx.x] = 1; /* HERE use_after_free */
}

__global__ void null_pointer(float *x, int)
{
    x[threadIdx.x] += 1; /* HERE null_pointer */
}

__global__ void misaligned(float *x, int)
{
    ((float4 *)(x + 1))[threadIdx.x] = make_float4(1, 2, 3, 4); /* HERE misaligned */
}

__global__ void shared_past_end(float *x, int n)
{
    __shared__ float tile[64]; /* THERE shared_past_end */
    volatile float *const at = tile;

    at[threadIdx.x + 2 + n] = 1; /* HERE shared_past_end */
    x[threadIdx.x] = at[threadIdx.x + 2 + n];
}

__global__ void tile_row_past_end(float *x, int n)
{
    __shared__ float tile[4][16];

    tile[threadIdx.x % 4][threadIdx.x / 4 + 2 + n] = 1; /* HERE tile_row_past_end */
    x[threadIdx.x] = tile[threadIdx.x % 4][threadIdx.x / 4 + 2 + n];
}

__global__ void local_past_end(float *x, int n)
{
    float four[4] = {1, 2, 3, 4};

    for (int i = 1; i <= 4 + n; i++)
        four[i] *= 2; /* HERE local_past_end */
    x[threadIdx.x] = four[0] + four[3];
}

static __device__ void write_ones(float *to, int count)
{
    for (int i = 1; i <= count; i++)
        to[i] = 1; /* HERE local_pointer_past_end */
}

__global__ void local_pointer_past_end(float *x, int n)
{
    float four[4] = {1, 2, 3, 4};

    write_ones(four, 4 + n);
    x[threadIdx.x] = four[0] + four[3];
}

__global__ void dynamic_in_slack(float *x, int)
{
    extern __shared__ float tile[]; /* THERE dynamic_in_slack */

    tile[threadIdx.x + 1] = 1; /* HERE dynamic_in_slack */
    x[threadIdx.x] = tile[threadIdx.x + 1];
}

__global__ void unwritten(float *x, int)
{
    x[threadIdx.x] = x[threadIdx.x + 36]; /* HERE unwritten */
}

__global__ void copies_unwritten(float *x, int)
{
    __shared__ __align__(16) float tile[256];

    __pipeline_memcpy_async(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], 16); /* HERE copies_unwritten */
}

__global__ void host_memory(float *x, int)
{
    x[1] = x[threadIdx.x]; /* HERE host_memory */
}

/* Local variables of another thread. */
__global__ void foreign_local(float *x, int)
{
    __shared__ volatile float *local[64];
    volatile float own = 1;

    local[threadIdx.x] = &own;
    __syncthreads();
    x[threadIdx.x] = own + *local[63]; /* HERE foreign_local */
    __syncthreads();
}

/* Shared memory of a block that has ended. */
__global__ void foreign_shared(float *x, float **keep)
{
    if (blockIdx.x == 0) {
        __shared__ float tile[64];
        tile[threadIdx.x] = 1;
        if (threadIdx.x == 0)
            *(float *volatile *)keep = tile;
    } else {
        x[threadIdx.x] = (*(float *volatile *)keep)[threadIdx.x]; /* HERE foreign_shared */
    }
}

struct two {
    double a, b;
};

/* Two members of 8 bytes may lie where a float4 may not. */
__global__ void misaligned_four(float *x, int)
{
    ((two *)(x + 2))[1] = ((two *)(x + 2))[0];
    const float4 four = ((const float4 *)(x + 2))[0]; /* HERE misaligned_four */
    x[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void misaligned2(float *x, int)
{
    x[threadIdx.x] =
        ((const float2 *)(x + 1))[threadIdx.x].x + ((const double *)(x + 1))[threadIdx.x]; /* HERE misaligned2 */
}

__global__ void copy_past_end(float *x, int)
{
    __shared__ __align__(16) float tile[256];

    __pipeline_memcpy_async(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], 16); /* HERE copy_past_end */
}

__global__ void stack_overflow(float *x, int n)
{ /* HERE stack_overflow */
    volatile float array[100000];

    array[n] = 1;
    x[threadIdx.x] = array[n];
}

/* ---- mbarriers and bulk copies ---- */

/* Most of these kernels fill x with 1 and copy it to a tile; a mistake is on the way. */
static __device__ void prepare(float *x, uint64_t *barrier, unsigned arrivals)
{
    x[threadIdx.x] = 1;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, arrivals); /* THE BARRIER */
        mbarrier_init_done();
    }
    __syncthreads();
}

__global__ void missing_bulk_wait(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile));
        tma_load(tile, x, sizeof(tile), &barrier); /* THERE missing_bulk_wait */
    }
    __syncthreads();
    if (threadIdx.x >= 32) /* the first warp does not wait */
        mbarrier_wait(&barrier, 0);
    x[threadIdx.x] = tile[threadIdx.x]; /* HERE missing_bulk_wait */
}

__global__ void early_refill(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    for (unsigned phase = 0; phase < 2; phase++) {
        if (threadIdx.x == 0) {
            mbarrier_expect(&barrier, sizeof(tile));
            tma_load(tile, x, sizeof(tile), &barrier); /* THERE early_refill */
        }
        __syncthreads();
        mbarrier_wait(&barrier, phase);
        if (phase == 0)
            x[threadIdx.x] = tile[threadIdx.x]; /* HERE early_refill */
    }
}

__global__ void barrier_on_device(float *x, int)
{
    mbarrier_init((uint64_t *)x, 1); /* HERE barrier_on_device */
}

__global__ void barrier_past_end(float *x, int n)
{
    __shared__ uint64_t barrier[2]; /* THERE barrier_past_end */

    prepare(x, &barrier[1], 1);
    mbarrier_wait(&barrier[n + 2], 0); /* HERE barrier_past_end */
}

__global__ void barrier_misaligned(float *, int)
{
    __shared__ uint64_t barrier[2];

    mbarrier_init((uint64_t *)(void *)((char *)barrier + 4), 1); /* HERE barrier_misaligned */
}

__global__ void barrier_fresh(float *, int)
{
    __shared__ uint64_t barrier;

    mbarrier_wait(&barrier, 0); /* HERE barrier_fresh */
}

__global__ void barrier_overwritten(float *x, int)
{
    __shared__ uint64_t barrier[2];

    prepare(x, &barrier[0], 1);
    barrier[1] = barrier[0];          /* a barrier cannot be copied */
    mbarrier_expect(&barrier[1], 16); /* HERE barrier_overwritten */
}

__global__ void no_arrivals(float *x, int n)
{
    __shared__ uint64_t barrier;

    mbarrier_init(&barrier, (unsigned)n); /* HERE no_arrivals */
    x[threadIdx.x] = 1;
}

__global__ void init_twice(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1); /* THERE init_twice */
        mbarrier_init_done();
        mbarrier_expect(&barrier, 64);
        tma_load(tile, x, 64, &barrier);
        mbarrier_init(&barrier, 1); /* HERE init_twice */
    }
}

__global__ void init_by_all(float *, int)
{
    __shared__ uint64_t barrier;

    mbarrier_init(&barrier, 64); /* HERE init_by_all */
}

__global__ void init_not_shown(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1); /* THERE init_not_shown */
        mbarrier_expect(&barrier, 64);
        tma_load(tile, x, 64, &barrier); /* HERE init_not_shown */
        mbarrier_wait(&barrier, 0);
    }
}

__global__ void many_arrivals(float *x, int)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 63);
    mbarrier_expect(&barrier, 16); /* HERE many_arrivals */
}

__global__ void many_bytes(float *x, int n)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 2);
    if (threadIdx.x < 2)
        mbarrier_expect(&barrier, (unsigned)n + (1 << 19)); /* HERE many_bytes */
}

__global__ void few_arrivals(float *x, int)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 64);
    if (threadIdx.x >= 2)
        mbarrier_expect(&barrier, 16);
    mbarrier_wait(&barrier, 0); /* HERE few_arrivals */
}

__global__ void large_byte_count(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile) + 16);
        tma_load(tile, x, sizeof(tile), &barrier);
    }
    mbarrier_wait(&barrier, 0); /* HERE large_byte_count */
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void small_byte_count(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile) - 16);
        tma_load(tile, x, sizeof(tile), &barrier); /* THERE small_byte_count */
    }
    mbarrier_wait(&barrier, 0); /* HERE small_byte_count */
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void late_excess(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, 128);
        tma_load(tile, x, 128, &barrier);
        mbarrier_wait(&barrier, 0);
        tma_load(tile + 32, x + 32, 128, &barrier); /* HERE late_excess */
    }
}

__global__ void producer_elsewhere(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 40) {
        __syncthreads(); /* THERE producer_elsewhere */
        mbarrier_expect(&barrier, sizeof(tile));
        tma_load(tile, x, sizeof(tile), &barrier);
    }
    mbarrier_wait(&barrier, 0); /* HERE producer_elsewhere */
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void half_warp_waits(float *x, int)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 1)
        mbarrier_wait(&barrier, 0); /* HERE half_warp_waits */
    __syncwarp();                   /* THERE half_warp_waits */
    if (threadIdx.x == 0)
        mbarrier_expect(&barrier, 0);
}

__global__ void phase_too_late(float *x, int)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, 0);
        mbarrier_expect(&barrier, 0);
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0); /* HERE phase_too_late */
}

__global__ void no_parity(float *x, int n)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    mbarrier_wait(&barrier, (unsigned)n + 2); /* HERE no_parity */
}

__global__ void wrong_parity(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile));
        tma_load(tile, x, sizeof(tile), &barrier); /* HERE wrong_parity */
    }
    mbarrier_wait(&barrier, 1); /* returns at once */
}

__global__ void reads_too_soon(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile));
        tma_load(tile, x, sizeof(tile), &barrier); /* THERE reads_too_soon */
    }
    mbarrier_wait(&barrier, 1);         /* returns at once */
    x[threadIdx.x] = tile[threadIdx.x]; /* HERE reads_too_soon */
}

/* The last warp waits for the first copy and takes what the second one brings, for which others have waited. */
__global__ void waits_for_another(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier[2];

    prepare(x, &barrier[0], 1);
    prepare(x, &barrier[1], 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier[0], 128);
        mbarrier_expect(&barrier[1], 128);
        tma_load(tile, x, 128, &barrier[0]);
        tma_load(tile + 32, x + 32, 128, &barrier[1]); /* THERE waits_for_another */
    }
    mbarrier_wait(&barrier[0], 0);
    if (threadIdx.x < 32)
        mbarrier_wait(&barrier[1], 0);
    const float mine = tile[threadIdx.x]; /* HERE waits_for_another */
    __syncthreads();
    x[threadIdx.x] = mine;
}

/* The barrier is used by all, before all know that it is there. */
__global__ void barrier_not_published(float *x, int)
{
    __shared__ uint64_t barrier;

    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 64); /* THERE barrier_not_published */
        mbarrier_init_done();
    }
    __shfl_sync(ALL, x[0], 0);
    if (threadIdx.x < 32)
        mbarrier_expect(&barrier, 0); /* HERE barrier_not_published */
}

__global__ void other_barrier(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier[2];

    prepare(x, &barrier[0], 1);
    prepare(x, &barrier[1], 1);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier[0], 128);
        mbarrier_expect(&barrier[1], 128);
        tma_load(tile, x, 128, &barrier[0]);
        tma_load(tile + 32, x + 32, 128, &barrier[1]); /* HERE other_barrier */
    }
    mbarrier_wait(&barrier[0], 0);
}

__global__ void unwaited_copy(float *x, int)
{
    __shared__ __align__(16) float tile[64];
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    if (threadIdx.x == 33) {
        mbarrier_expect(&barrier, 128 + 64);
        tma_load(tile, x, 128, &barrier); /* HERE unwaited_copy */
    }
}

/* One bulk copy by the last thread. */
#define ONE_COPY(name, to, from, bytes)                                                                                \
    __global__ void name(float *x, int n)                                                                              \
    {                                                                                                                  \
        __shared__ __align__(16) float tile[64];                                                                       \
        __shared__ uint64_t barrier;                                                                                   \
                                                                                                                       \
        prepare(x, &barrier, 1);                                                                                       \
        if (threadIdx.x == 63) {                                                                                       \
            mbarrier_expect(&barrier, (bytes) + n);                                                                    \
            tma_load(to, from, (bytes) + n, &barrier);                                                                 \
            mbarrier_wait(&barrier, 0);                                                                                \
        }                                                                                                              \
    }

ONE_COPY(bulk_of_8, tile, x, 8)                  /* HERE bulk_of_8 */
ONE_COPY(bulk_of_0, tile, x, 0)                  /* HERE bulk_of_0 */
ONE_COPY(bulk_from_unaligned, tile, x + 2, 16)   /* HERE bulk_from_unaligned */
ONE_COPY(bulk_to_unaligned, tile + 1, x, 16)     /* HERE bulk_to_unaligned */
ONE_COPY(bulk_reads_past_end, tile, x + 92, 64)  /* HERE bulk_reads_past_end */
ONE_COPY(bulk_reads_outside, tile, x + 104, 16)  /* HERE bulk_reads_outside */
ONE_COPY(bulk_reads_shared, tile, tile + 32, 16) /* HERE bulk_reads_shared */
ONE_COPY(bulk_writes_past_end, tile + 60, x, 32) /* HERE bulk_writes_past_end */

__global__ void bulk_writes_device(float *x, int)
{
    __shared__ uint64_t barrier;

    prepare(x, &barrier, 1);
    tma_load(x, x + 16, 16, &barrier); /* HERE bulk_writes_device */
}

/* ---- launches ---- */

__global__ void plain(float *x, int)
{
    x[threadIdx.x] = 1;
}

__global__ void much_static(float *x, int)
{
    __shared__ float tile[12000];
    __shared__ float more[289]; /* HERE much_static */

    tile[threadIdx.x] = more[threadIdx.x] = 1;
    x[threadIdx.x] = tile[threadIdx.x] + more[threadIdx.x];
}

__global__ void much_together(float *x, int)
{
    extern __shared__ float tile[];
    __shared__ float more[10000]; /* HERE much_together */

    tile[threadIdx.x] = more[threadIdx.x] = 1;
    x[threadIdx.x] = tile[threadIdx.x] + more[threadIdx.x];
}

/* ---- the rest ---- */

__global__ void deadlock(float *x, int)
{
    if (threadIdx.x == 0)
        __syncwarp(0x3); /* HERE deadlock */
    if (threadIdx.x == 1)
        __syncwarp(0x6);
    if (threadIdx.x == 2)
        __syncwarp(0x5);
    x[threadIdx.x] = 1;
}

__global__ void endless(float *x, int)
{
    volatile int turns = 0;

    while (turns != -1) /* HERE endless */
        ;
    x[0] = 0;
}

__global__ void endless_register(float *x, int n)
{
    while (n == 0) /* HERE endless_register */
        n = n;
    x[0] = 0;
}

__global__ void endless_barrier(float *x, int n)
{
    for (int d = 1; d < 64; d += n)
        x[threadIdx.x] += __syncthreads_count(d); /* HERE endless_barrier */
}

static __attribute__((noinline)) void endless_host(const char *name)
{
    while (name != NULL) /* HERE endless_host */
        name = name;
}

__global__ void endless_poll(float *x, int)
{
    volatile float *flag = x;

    while (flag[0] != 1) /* HERE endless_poll */
        __nanosleep(100);
}

static __device__ void add_up(float *x, int count)
{
    for (int i = 1; i <= count; i++)
        x[i] += x[i - 1]; /* HERE local_by_pointer */
}

__global__ void local_by_pointer(float *x, int n)
{
    float four[4] = {1, 2, 3, x[0]};

    add_up(four, n + 4);
    x[threadIdx.x] = four[3];
}

__global__ void local_loop(float *x, int n)
{
    float four[4] = {1, 2, 3, x[0]};

    for (int i = 1; i <= n + 4; i++)
        four[i] = four[i - 1] + four[i]; /* HERE local_loop */
    x[threadIdx.x] = four[3];
}

struct totals {
    float sums[32], counts[32];
    int last;
};

__global__ void race_in_struct(float *x, int)
{
    __shared__ struct totals totals[2];

    totals[1].counts[threadIdx.x % 32] = threadIdx.x; /* HERE race_in_struct */
    x[threadIdx.x] = 1;
}

__global__ void zero_divisor(float *x, int n)
{
    x[threadIdx.x] = (float)((int)threadIdx.x / n); /* HERE zero_divisor */
}

__global__ void trap(float *, int n)
{
    if (n == 0 && threadIdx.x == 5)
        __trap(); /* HERE trap */
}

__global__ void failed_assert(float *, int n)
{
    assert(threadIdx.x < 7 + (unsigned)n); /* HERE failed_assert */
}

/* ---- shared memory that nobody has written ---- */

__global__ void unwritten_shared(float *x, int)
{
    __shared__ float tile[4][33];

    if (threadIdx.x < 42)
        tile[threadIdx.x % 4][threadIdx.x / 4] = 1; /* 0 ... 10, but of row 2 and 3 only 0 ... 9 */
    __syncthreads();
    x[threadIdx.x] = threadIdx.x < 11 ? tile[3][threadIdx.x] : 1; /* HERE unwritten_shared */
    __syncthreads();
}

/* A float4 of which something was written may be read. */
__global__ void unwritten_four(float *x, int)
{
    __shared__ float4 tile4[16];
    float *const tile = (float *)tile4;

    if (threadIdx.x < 45)
        tile[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 16)
        ((float4 *)x)[threadIdx.x] = tile4[threadIdx.x]; /* HERE unwritten_four */
}

/* What comes of it is not told. */
__global__ void unwritten_index(float *x, int)
{
    __shared__ int index;

    const int i = index; /* HERE unwritten_index */
    x[i] = 1;
}

__global__ void unwritten_extern(float *x, int)
{
    extern __shared__ float2 pairs[];

    if (threadIdx.x < 63)
        pairs[threadIdx.x] = make_float2(1, 1);
    else
        pairs[threadIdx.x].x = 1;
    __syncthreads();
    x[threadIdx.x] = pairs[threadIdx.x].y; /* HERE unwritten_extern */
}

/* ---- an array of 3 rows of 5, by name ---- */

__global__ void race_in_rows(float *x, int)
{
    for (int i = 0; i < 5 + (threadIdx.x == 0); i++)
        x[threadIdx.x * 5 + i] = (float)threadIdx.x; /* HERE race_in_rows */
}

__global__ void past_rows(float *x, int)
{
    x[15] = 1; /* HERE past_rows */
}

__global__ void four_past_rows(float *x, int)
{
    const float4 four = *(const float4 *)&x[13]; /* HERE four_past_rows */
    *(float4 *)x = four;
}

__global__ void before_rows(float *x, int)
{
    x[-1] = 1; /* HERE before_rows */
}

__global__ void read_past_named(float *x, int)
{
    x[0] = x[10]; /* HERE read_past_named */
}

__global__ void write_before_named(float *x, int)
{
    x[-1] = 1; /* HERE write_before_named */
}

__global__ void barrier_elsewhere(float *, int)
{
    barrier_in_branches();
}

__global__ void race_elsewhere(float *x, int)
{
    __shared__ float tile[64];

    set(tile, threadIdx.x, 1.0f);     /* HERE race_elsewhere */
    set(tile, threadIdx.x ^ 1, x[0]); /* THERE race_elsewhere */
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void past_elsewhere(float *x, int n)
{
    set(x, n + 64 * blockIdx.x + threadIdx.x, 1.0f); /* HERE past_elsewhere */
}

__global__ void race_in_line(float *x, int)
{
    __shared__ float tile[64];

    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0)
        tile[threadIdx.x] += tile[threadIdx.x - 1]; /* HERE race_in_line */
    x[threadIdx.x] = tile[threadIdx.x];
}

/* ---- types of 16 bits ---- */

__global__ void half_before_barrier(float *x, int)
{
    __shared__ __half2 tile[64];

    tile[threadIdx.x] = __floats2half2_rn(1, 2);                                  /* HERE half_before_barrier */
    x[threadIdx.x] = __half2float(((const __half *)tile)[127 - 2 * threadIdx.x]); /* THERE half_before_barrier */
}

__global__ void half_before_wait(float *x, int)
{
    __shared__ __half2 tile[64];

    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4); /* THERE half_before_wait */
    __pipeline_commit();
    x[threadIdx.x] = __half2float(((const __half *)tile)[2 * threadIdx.x + 1]); /* HERE half_before_wait */
    __pipeline_wait_prior(0);
}

/* ---- named barriers ---- */

__global__ void named_alone(float *x, int)
{
    if (threadIdx.x < 32)
        named_barrier_sync(1, 64); /* HERE named_alone */
    x[threadIdx.x] = 1;
}

__global__ void named_elsewhere(float *, int)
{
    if (threadIdx.x < 32)
        named_barrier_sync(1, 64); /* HERE named_elsewhere */
    __syncthreads();               /* THERE named_elsewhere */
}

__global__ void named_other_count(float *, int)
{
    if (threadIdx.x < 32)
        named_barrier_arrive(1, 64); /* THERE named_other_count */
    __syncthreads();
    if (threadIdx.x >= 32)
        named_barrier_sync(1, 32); /* HERE named_other_count */
}

__global__ void named_zero(float *, int)
{
    named_barrier_sync(0, 64); /* HERE named_zero */
}

__global__ void named_sixteen(float *, int)
{
    named_barrier_arrive(16, 64); /* HERE named_sixteen */
}

__global__ void named_odd_count(float *, int)
{
    named_barrier_sync(1, 48); /* HERE named_odd_count */
}

__global__ void named_many(float *, int)
{
    named_barrier_sync(1, 96); /* HERE named_many */
}

__global__ void named_in_part(float *, int)
{
    named_barrier_sync(1, 32); /* HERE named_in_part */
}

__global__ void named_twice(float *, int)
{
    if (threadIdx.x < 32)
        for (int i = 0; i < 2; i++)
            named_barrier_arrive(1, 64); /* HERE named_twice */
}

__global__ void named_half_warps(float *, int)
{
    if (threadIdx.x % 32 < 16)
        named_barrier_sync(1, 32); /* HERE named_half_warps */
}

__global__ void named_arrive_waits_not(float *x, int)
{
    __shared__ float tile[64];

    if (threadIdx.x < 32)
        tile[threadIdx.x] = 1; /* THERE named_arrive_waits_not */
    named_barrier_arrive(1, 64);
    if (threadIdx.x >= 32)
        x[threadIdx.x] = tile[threadIdx.x - 32]; /* HERE named_arrive_waits_not */
}

__global__ void named_no_way_back(float *x, int)
{
    __shared__ float tile[64];

    for (int round = 0; round < 2; round++)
        if (threadIdx.x < 32) {
            tile[threadIdx.x] = 1; /* THERE named_no_way_back */
            named_barrier_arrive(1 + round, 64);
        } else {
            named_barrier_sync(1 + round, 64);
            x[threadIdx.x] = tile[threadIdx.x - 32]; /* HERE named_no_way_back */
        }
}

__global__ void named_and_shuffle(float *x, int)
{
    if (threadIdx.x != 1)
        named_barrier_sync(1, 64); /* THERE named_and_shuffle */
    else
        x[0] = __shfl_sync(ALL, 1.0f, 0); /* HERE named_and_shuffle */
}

static void name_rows(float *x)
{
    const size_t dims[] = {3, 5};

    sim_name_array(x, 15 * sizeof(float), "outputs");
    sim_shape_array(x, sizeof(float), 2, dims);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    float *x, result[64];

    cudaMalloc(&x, N * sizeof(float)); /* THE ALLOCATION */
    cudaMemset(x, 0, N * sizeof(float));
#define CASE(kernel, call)                                                                                             \
    if (strcmp(name, #kernel) == 0) {                                                                                  \
        call;                                                                                                          \
    }
#define SIMPLE(kernel) CASE(kernel, (kernel<<<2, 64>>>(x, 0)))
    CASE(tickets, print_tickets(x))
    SIMPLE(missing_barrier)
    SIMPLE(missing_syncwarp)
    SIMPLE(missing_wait)
    SIMPLE(shuffle_orders_nothing)
    SIMPLE(syncwarp_across_warps)
    SIMPLE(missing_second_barrier)
    SIMPLE(half_syncwarp)
    SIMPLE(two_blocks)
    CASE(neighbour_block, (neighbour_block<<<2, 34>>>(x, 0)))
    CASE(plain_beside_atomic, (plain_beside_atomic<<<1, 64>>>(x, 0)))
    CASE(row_past_end, (row_past_end<<<1, 3>>>(x, 0)))
    SIMPLE(unwritten_shared)
    SIMPLE(unwritten_four)
    SIMPLE(unwritten_index)
    CASE(unwritten_extern, (unwritten_extern<<<1, 64, 64 * sizeof(float2)>>>(x, 0)))
    CASE(race_in_rows, (name_rows(x), race_in_rows<<<1, 3>>>(x, 0)))
    CASE(past_rows, (name_rows(x), past_rows<<<1, 1>>>(x, 0)))
    CASE(four_past_rows, (name_rows(x + 3), four_past_rows<<<1, 1>>>(x + 3, 0)))
    CASE(before_rows, (name_rows(x + 3), before_rows<<<1, 1>>>(x + 3, 0)))
    CASE(read_past_named, (sim_name_array(x + 10, 40, "inputs"), read_past_named<<<1, 1>>>(x + 10, 0)))
    CASE(write_before_named, (sim_name_array(x + 10, 40, "inputs"), write_before_named<<<1, 1>>>(x + 10, 0)))
    SIMPLE(barrier_elsewhere)
    SIMPLE(race_elsewhere)
    SIMPLE(past_elsewhere)
    SIMPLE(race_in_line)
    CASE(flag_without_fence, (flag_without_fence<1, 0><<<1, 64>>>(x, 0)))
    CASE(flag_without_first_fence, (flag_without_fence<0, 1><<<1, 64>>>(x, 0)))
    CASE(flag_with_fences, (flag_without_fence<1, 1><<<1, 64>>>(x, 0), exit(0)))
    SIMPLE(wait_is_no_barrier)
    SIMPLE(early_copy)
    if (strcmp(name, "unwritten") == 0) {
        cudaMalloc(&x, N * sizeof(float)); /* THERE unwritten */
        cudaMemset(x, 0, 50 * sizeof(float));
        unwritten<<<1, 64>>>(x, 0);
    }
    if (strcmp(name, "copies_unwritten") == 0) {
        float *fresh;
        cudaMalloc(&fresh, N * sizeof(float)); /* THERE copies_unwritten */
        cudaMemset(fresh, 0, 50 * sizeof(float));
        cudaMemcpy(x + 2, fresh + 2, 60 * sizeof(float), cudaMemcpyDeviceToDevice); /* what is unwritten stays it */
        copies_unwritten<<<1, 64>>>(x, 0);
    }
    CASE(host_memory, (host_memory<<<1, 64>>>(result, 0)))
    SIMPLE(foreign_local)
    if (strcmp(name, "foreign_shared") == 0) {
        float **keep;
        cudaMalloc(&keep, sizeof(*keep));
        foreign_shared<<<2, 64>>>(x, keep);
    }
    CASE(misaligned_four, (misaligned_four<<<1, 1>>>(x, 0)))
    SIMPLE(misaligned2)
    SIMPLE(divergent_barrier)
    SIMPLE(barrier_in_branch)
    CASE(barrier_after_return, (barrier_after_return<4><<<1, 64>>>(x, 0)))
    SIMPLE(partial_shuffle)
    SIMPLE(exited_shuffle)
    CASE(exited_vote, (exited_vote<<<1, 64>>>(x, 0)))
    CASE(missing_lane, (missing_lane<<<1, 48>>>(x, 0)))
    CASE(undefined_sum, (undefined_sum<<<1, 32>>>(x, 0)))
    CASE(undefined_scan, (undefined_scan<<<1, 32>>>(x, 0)))
    CASE(undefined_index, (undefined_index<<<1, 32>>>(x, 0)))
    CASE(undefined_total, (undefined_total<<<1, 32>>>(x, 0)))
    CASE(same_value, (plain<<<1, 64>>>(x, 0), same_value<<<2, 64>>>(x, 0)))
    SIMPLE(lacks_block)
    CASE(asks_first, (asks_first<<<1, 64>>>(x, 0), plain<<<1, 64>>>(x, 0)))
    CASE(takes_count, (takes_count<<<1, 64>>>(x, 0), plain<<<1, 64>>>(x, 0)))
    CASE(volatile_sum, (volatile_sum<<<1, 16>>>(x, 0)))
    SIMPLE(handover)
    CASE(adds_plainly, (adds_plainly<<<1, 64>>>(x, 0)))
    CASE(overlapping, (overlapping<<<1, 64, 96 * sizeof(float)>>>(x, 0)))
    SIMPLE(last_block)
    CASE(plain_unlock, (plain_unlock<<<1, 64>>>(x, 0)))
    if (strcmp(name, "rows_without_pitch") == 0) {
        float *rows;
        size_t pitch;
        cudaMallocPitch(&rows, &pitch, 30 * sizeof(float), 2); /* THERE rows_without_pitch */
        cudaMemset2D(rows, pitch, 0, 30 * sizeof(float), 2);
        rows_without_pitch<<<2, 64>>>(rows, x);
    }
    SIMPLE(not_in_mask)
    SIMPLE(other_mask)
    SIMPLE(other_call)
    SIMPLE(bad_width)
    CASE(read_past_end, (read_past_end<28><<<1, 64>>>(x, 0)))
    SIMPLE(write_past_end)
    if (strcmp(name, "write_in_slack") == 0) {
        cudaMalloc(&x, (N - 1) * sizeof(float)); /* THERE write_in_slack */
        write_in_slack<<<1, 64>>>(x, 0);
    }
    if (strcmp(name, "wide_past_end") == 0) {
        cudaMalloc(&x, (N - 1) * sizeof(float)); /* THERE wide_past_end */
        cudaMemset(x, 0, (N - 1) * sizeof(float));
        wide_past_end<<<1, N / 4>>>(x, 0);
    }
    CASE(memcpy_past_end, (memcpy_past_end<<<1, 1>>>(x, N + 1)))
    CASE(write_before, (write_before<<<1, 64>>>(x, 0)))
    CASE(use_after_free, (cudaFree(x), use_after_free<<<1, 64>>>(x, 0)))
    CASE(null_pointer, (null_pointer<<<dim3(1, 2), dim3(8, 8)>>>(NULL, 0)))
    SIMPLE(misaligned)
    SIMPLE(shared_past_end)
    SIMPLE(tile_row_past_end)
    SIMPLE(local_past_end)
    SIMPLE(local_pointer_past_end)
    CASE(dynamic_in_slack, (dynamic_in_slack<<<1, 63, 63 * sizeof(float)>>>(x, 0)))
    SIMPLE(copy_past_end)
    SIMPLE(stack_overflow)
    SIMPLE(missing_bulk_wait)
    SIMPLE(early_refill)
    SIMPLE(barrier_on_device)
    SIMPLE(barrier_past_end)
    SIMPLE(barrier_misaligned)
    SIMPLE(barrier_fresh)
    SIMPLE(barrier_overwritten)
    SIMPLE(no_arrivals)
    SIMPLE(init_twice)
    SIMPLE(init_by_all)
    SIMPLE(init_not_shown)
    SIMPLE(many_arrivals)
    SIMPLE(many_bytes)
    SIMPLE(few_arrivals)
    SIMPLE(large_byte_count)
    SIMPLE(small_byte_count)
    SIMPLE(late_excess)
    SIMPLE(producer_elsewhere)
    SIMPLE(half_warp_waits)
    SIMPLE(phase_too_late)
    SIMPLE(no_parity)
    SIMPLE(wrong_parity)
    SIMPLE(reads_too_soon)
    SIMPLE(waits_for_another)
    SIMPLE(barrier_not_published)
    SIMPLE(other_barrier)
    SIMPLE(unwaited_copy)
    SIMPLE(half_before_barrier)
    SIMPLE(half_before_wait)
    SIMPLE(named_alone)
    SIMPLE(named_elsewhere)
    SIMPLE(named_other_count)
    SIMPLE(named_zero)
    SIMPLE(named_sixteen)
    SIMPLE(named_odd_count)
    SIMPLE(named_many)
    SIMPLE(named_twice)
    SIMPLE(named_half_warps)
    SIMPLE(named_arrive_waits_not)
    SIMPLE(named_no_way_back)
    SIMPLE(named_and_shuffle)
    CASE(named_in_part, (named_in_part<<<1, 48>>>(x, 0)))
    SIMPLE(bulk_of_8)
    SIMPLE(bulk_of_0)
    SIMPLE(bulk_from_unaligned)
    SIMPLE(bulk_to_unaligned)
    SIMPLE(bulk_reads_past_end)
    SIMPLE(bulk_reads_outside)
    SIMPLE(bulk_reads_shared)
    SIMPLE(bulk_writes_past_end)
    SIMPLE(bulk_writes_device)
    CASE(too_many_threads, (plain<<<1, 1025>>>(x, 0)))          /* HERE too_many_threads */
    CASE(no_threads, (plain<<<1, 0>>>(x, 0)))                   /* HERE no_threads */
    CASE(no_blocks, (plain<<<0, 64>>>(x, 0)))                   /* HERE no_blocks */
    CASE(large_grid, (plain<<<dim3(1, 65536), 64>>>(x, 0)))     /* HERE large_grid */
    CASE(much_dynamic, (plain<<<1, 64, 48 * 1024 + 1>>>(x, 0))) /* HERE much_dynamic */
    SIMPLE(much_static)
    CASE(much_together, (much_together<<<1, 64, 10000>>>(x, 0)))
    SIMPLE(deadlock)
    SIMPLE(endless)
    SIMPLE(endless_register)
    SIMPLE(endless_barrier)
    CASE(endless_host, (sim_watch_host(true), endless_host(name)))
    SIMPLE(endless_poll)
    SIMPLE(zero_divisor)
    SIMPLE(local_by_pointer)
    SIMPLE(local_loop)
    SIMPLE(race_in_struct)
    SIMPLE(trap)
    SIMPLE(failed_assert)
    if (strcmp(name, "host_crash") == 0) {
        plain<<<1, 64>>>(x, 0);
        *(volatile int *)NULL = 1;
    }
    if (strcmp(name, "host_touch") == 0)
        x[N + 4] = 1; /* HERE host_touch */

    /* still here: the result counts */
    cudaMemcpy(result, x, sizeof(result), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++)
        if (result[i] != 1)
            return printf("wrong result at %d\n", i), 3;
    return 0;
}
