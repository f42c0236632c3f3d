/* SPDX-License-Identifier: MIT */
/* chunk_join.cuh - what comes into each warp's steps of a chunk, for split.cu, tensor_map.cu and their gradients. Each
   lane does it for its own channels, and no lane ever needs another one's numbers: there is no shuffle here.

       within a block    warp 0 | warp 1 | ... | warp 7        products and sums through shared memory
       between blocks    chunk k-3 | chunk k-2 | chunk k-1 | chunk k, one below the other in time

   A chunk publishes (product, sum) for each of its channels, its aggregate, and later the state that leaves it, its
   inclusive prefix. If a sequence begins in it, the state that leaves it does not depend on what comes in, and is
   published at once. A chunk looks back until it meets an inclusive prefix, and then takes the aggregates behind that
   one in order, as the chunks between do themselves: so its state has the same bits, whoever was late.

   In the workspace each channel of a chunk has two words of 8 bytes. Their upper half says of which launch they are
   and, of the sum, whether it is an inclusive prefix; so nobody has to clean up for the next launch.

       | launch, is prefix | sum |   | launch | product |                                                        */
#ifndef CHUNK_JOIN_CUH
#define CHUNK_JOIN_CUH

#include <cuda/atomic>

#include "chunk_plan.h"

#define ALL_LANES 0xFFFFFFFFu

/* The workspace. All its bits are set at first, and `drawn` counts from there: its lower half tickets, its upper half
   launches. */
struct chunk_space {
    unsigned long long drawn, padding[15];
    unsigned long long words[]; /* of each chunk 2 * 32 * width */
};

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> shared_word;

/* A block's chunk, and in the upper half the launch: one thread draws it. Whoever draws a launch's last ticket begins
   the next launch's count. A ticket that cannot be ends the launch with an error: the workspace was not initialised, or
   two launches use it at once. */
static __device__ __forceinline__ unsigned long long draw_ticket(struct chunk_space *space)
{
    shared_word drawn(space->drawn);
    const unsigned long long ticket = drawn.fetch_add(1, cuda::memory_order_relaxed) + 1;
    if ((unsigned)ticket >= gridDim.x)
        __trap();
    if ((unsigned)ticket == gridDim.x - 1)
        drawn.store((((ticket >> 32) + 1) << 32) - 1, cuda::memory_order_relaxed);
    return ticket;
}

/* A chunk: where it lies, and where its words are. */
struct chunk {
    long long batch, position, channel; /* of its first step and channel */
    unsigned in_time;                   /* chunks before it */
    unsigned long long *words;
    size_t back; /* words from it back to the chunk before it */
    unsigned launch;
};

/* The chunk of a ticket: the groups of channels come first, then the batches, then time. */
template <int width>
static __device__ __forceinline__ struct chunk chunk_of(const struct chunk_plan *plan, struct chunk_space *space,
                                                        unsigned long long ticket)
{
    const unsigned number = (unsigned)ticket;
    const unsigned in_step = plan->groups * plan->batch, words = 2 * 32 * width;
    struct chunk chunk;
    chunk.batch = number / plan->groups % plan->batch;
    chunk.in_time = number / in_step;
    chunk.position = (long long)chunk.in_time * plan->chunk_len;
    chunk.channel = (long long)(number % plan->groups) * (32 * width);
    chunk.words = space->words + (size_t)number * words;
    chunk.back = (size_t)in_step * words;
    chunk.launch = (unsigned)(ticket >> 32);
    return chunk;
}

/* What the warps of a block, at most `warps`, tell each other. */
template <int width, int warps>
struct block_totals {
    float product[warps][width][32], sum[warps][width][32]; /* of each warp's steps by themselves */
    bool begins[warps];                                     /* a sequence begins in them */

    /* of the chunks before this one, the last one first */
    float chunk_product[warps][width][32], chunk_sum[warps][width][32];
    bool is_prefix[warps];
};

static __device__ __forceinline__ void publish(unsigned long long *word, unsigned tag, float value)
{
    shared_word(*word).store((unsigned long long)tag << 32 | __float_as_uint(value), cuda::memory_order_relaxed);
}

static __device__ __forceinline__ unsigned long long read(unsigned long long *word)
{
    return shared_word(*word).load(cuda::memory_order_relaxed);
}

/* What a warp has read of the words of the chunk that it looks at: warp w at the (w + 1)-th before its own. Nothing
   yet, if it is not fresh. */
template <int width>
struct look {
    unsigned long long sum[width], product[width];
    bool is_fresh;
};

template <int width>
static __device__ __forceinline__ void look_once(const struct chunk *chunk, struct look<width> *look)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long *const words = chunk->words - (warp + 1) * chunk->back;
#pragma unroll
    for (int v = 0; v < width; v++)
        look->sum[v] = read(&words[v * 32 + lane]), look->product[v] = read(&words[(width + v) * 32 + lane]);
    look->is_fresh = true;
}

/* A first look, whose answer is there when the warp's own steps are: often it is enough. */
template <int width>
static __device__ __forceinline__ void look_ahead(const struct chunk *chunk, struct look<width> *look)
{
    look->is_fresh = false;
    if (threadIdx.x / 32 < chunk->in_time)
        look_once<width>(chunk, look);
}

/* Waits until the chunk that the warp looks at has published. Returns whether what all lanes have found are inclusive
   prefixes; else they are all aggregates. */
template <int width>
static __device__ __forceinline__ bool await_chunk(const struct chunk *chunk, struct look<width> *look)
{
    const unsigned aggregate = 2 * chunk->launch, prefix = aggregate + 1;
    for (;;) {
        bool prefixes = true, aggregates = true;
        if (!look->is_fresh)
            look_once<width>(chunk, look);
#pragma unroll
        for (int v = 0; v < width; v++) {
            prefixes = prefixes && (unsigned)(look->sum[v] >> 32) == prefix;
            aggregates = aggregates && (unsigned)(look->sum[v] >> 32) == aggregate &&
                         (unsigned)(look->product[v] >> 32) == aggregate;
        }
        look->is_fresh = false;
        if (__all_sync(ALL_LANES, prefixes))
            return true;
        if (__all_sync(ALL_LANES, aggregates))
            return false;
    }
}

/* The state that comes into a chunk. Each warp waits for one of the chunks before it, all at once. If none of these
   knows its inclusive prefix, they look again. All threads of a block call it. */
template <int width, int warps>
static __device__ __forceinline__ void look_back(struct block_totals<width, warps> *totals, const struct chunk *chunk,
                                                 struct look<width> *look, float carry[width])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int looked_at = chunk->in_time < (unsigned)num_warps ? (int)chunk->in_time : num_warps;
    int nearest;
    do {
        if (warp < looked_at) {
            const bool is_prefix = await_chunk<width>(chunk, look);
#pragma unroll
            for (int v = 0; v < width; v++) {
                totals->chunk_product[warp][v][lane] = __uint_as_float((unsigned)look->product[v]);
                totals->chunk_sum[warp][v][lane] = __uint_as_float((unsigned)look->sum[v]);
            }
            if (lane == 0)
                totals->is_prefix[warp] = is_prefix;
        }
        __syncthreads();
        for (nearest = 0; nearest < looked_at && !totals->is_prefix[nearest]; nearest++)
            continue;
        if (nearest == looked_at)
            __syncthreads(); /* all have looked, before they look again */
    } while (nearest == looked_at);
#pragma unroll
    for (int v = 0; v < width; v++)
        carry[v] = totals->chunk_sum[nearest][v][lane];
    for (int w = nearest - 1; w >= 0; w--) {
#pragma unroll
        for (int v = 0; v < width; v++)
            carry[v] = carry[v] * totals->chunk_product[w][v][lane] + totals->chunk_sum[w][v][lane];
    }
}

/* What a warp without steps does: nothing. */
template <int width>
static __device__ __forceinline__ void nothing(float product[width], float sum[width])
{
#pragma unroll
    for (int v = 0; v < width; v++)
        product[v] = 1.0f, sum[v] = 0.0f;
}

/* What comes into this warp's steps, from what each warp's steps do by themselves: product and sum, and whether a
   sequence begins in them (then the product means nothing). carried: no sequence begins with the chunk's first step, so
   something comes into it. `look`: what this warp has seen of the chunks before. All threads of a block call it. */
template <int width, int warps>
static __device__ __forceinline__ void join(struct block_totals<width, warps> *totals, const struct chunk *chunk,
                                            bool carried, struct look<width> *look, const float product[width],
                                            const float sum[width], bool begins, float into[width])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    float before[width], state[width]; /* of the warps before this one: product and sum */
    float carry[width];                /* what comes into the block */
    bool begun = false;
#pragma unroll
    for (int v = 0; v < width; v++)
        totals->product[warp][v][lane] = product[v], totals->sum[warp][v][lane] = sum[v];
    if (lane == 0)
        totals->begins[warp] = begins;
    __syncthreads();
#pragma unroll
    for (int v = 0; v < width; v++)
        before[v] = totals->product[0][v][lane], state[v] = totals->sum[0][v][lane], carry[v] = 0.0f;
    begun = warp > 0 && totals->begins[0];
#pragma unroll 1 /* registers are scarce, and a block has few warps */
    for (int w = 1; w < warp; w++) {
        const bool anew = totals->begins[w];
        begun = begun || anew;
#pragma unroll
        for (int v = 0; v < width; v++) {
            const float factor = totals->product[w][v][lane], own = totals->sum[w][v][lane];
            state[v] = anew ? own : state[v] * factor + own;
            before[v] *= factor;
        }
    }

    /* The last warp knows what the chunk does by itself. It keeps that in its place in shared memory, where nobody else
       looks: while it looks back, registers are scarce. */
    const bool is_last = warp == num_warps - 1, chunk_begun = begun || begins;
    if (is_last) {
#pragma unroll
        for (int v = 0; v < width; v++) {
            const float all = warp == 0 ? product[v] : before[v] * product[v];
            const float leaving = warp == 0 || begins ? sum[v] : state[v] * product[v] + sum[v];
            totals->product[warp][v][lane] = all, totals->sum[warp][v][lane] = leaving;
            if (!chunk_begun)
                publish(&chunk->words[(width + v) * 32 + lane], 2 * chunk->launch, all);
            publish(&chunk->words[v * 32 + lane], 2 * chunk->launch + chunk_begun, leaving);
        }
    }
    if (carried)
        look_back<width, warps>(totals, chunk, look, carry);
    else
        __syncthreads();
    if (is_last && !chunk_begun) {
#pragma unroll
        for (int v = 0; v < width; v++)
            publish(&chunk->words[v * 32 + lane], 2 * chunk->launch + 1,
                    carry[v] * totals->product[warp][v][lane] + totals->sum[warp][v][lane]);
    }
#pragma unroll
    for (int v = 0; v < width; v++)
        into[v] = warp == 0 ? carry[v] : begun ? state[v] : carry[v] * before[v] + state[v];
}

#endif
