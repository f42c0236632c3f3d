/* SPDX-License-Identifier: MIT */
/* reductions.cu - a whole sequence reduced to one pair, in five ways (further/reductions.md). A block of 1024
   threads has a sequence of as many elements; thread t begins with the pair of element t. In each step half of the
   pairs are joined with those behind them, always neighbours and in their order:

       spread       thread 0, 2, 4, ... then 0, 4, 8, ...       the pairs stay where they are
       gathered     thread 0, 1, 2, ... up to half              the same pairs, by other threads
       moved        likewise                                    each pair moves to its thread's place
       last_warp    likewise, and the last 32 by shuffles
       shuffles     each warp by shuffles, then the warps' pairs by shuffles                                          */
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/linrec/demo_table.h"
#include "../warp_scan.cuh"

#ifdef CUSIM
enum { NUM_SEQS = 8 };
#else /* as the tables of the chapter */
enum { NUM_SEQS = 13200 };
#endif
enum { SEQ_LEN = 1024 };

/* Pairs of a block in shared memory. */
struct pairs {
    float product[SEQ_LEN], sum[SEQ_LEN];
};

static __device__ __forceinline__ struct pair get(const struct pairs *pairs, int i)
{
    struct pair pair = {pairs->product[i], pairs->sum[i]};
    return pair;
}

static __device__ __forceinline__ void set(struct pairs *pairs, int i, struct pair pair)
{
    pairs->product[i] = pair.product, pairs->sum[i] = pair.sum;
}

/* The pair of the thread's element. The first coefficient is not used. */
static __device__ __forceinline__ struct pair load_pair(const float *inputs, const float *coeffs)
{
    const size_t i = (size_t)blockIdx.x * SEQ_LEN + threadIdx.x;
    struct pair pair = {threadIdx.x == 0 ? 1.0f : coeffs[i], inputs[i]};
    return pair;
}

/* last: the last output of each sequence, (NUM_SEQS). */
static __global__ void __launch_bounds__(SEQ_LEN) spread(const float *inputs, const float *coeffs, float *last)
{
    __shared__ struct pairs pairs;
    const int thread = threadIdx.x;
    set(&pairs, thread, load_pair(inputs, coeffs));
    for (int d = 1; d < SEQ_LEN; d *= 2) {
        __syncthreads();
        if (thread % (2 * d) == 0)
            set(&pairs, thread, pair_join(get(&pairs, thread), get(&pairs, thread + d)));
    }
    if (thread == 0)
        last[blockIdx.x] = pairs.sum[0];
}

static __global__ void __launch_bounds__(SEQ_LEN) gathered(const float *inputs, const float *coeffs, float *last)
{
    __shared__ struct pairs pairs;
    const int thread = threadIdx.x;
    set(&pairs, thread, load_pair(inputs, coeffs));
    for (int d = 1; d < SEQ_LEN; d *= 2) {
        const int i = 2 * d * thread;
        __syncthreads();
        if (i < SEQ_LEN)
            set(&pairs, i, pair_join(get(&pairs, i), get(&pairs, i + d)));
    }
    if (thread == 0)
        last[blockIdx.x] = pairs.sum[0];
}

/* Two arrays take turns, so that nobody writes where others still read. */
static __global__ void __launch_bounds__(SEQ_LEN) moved(const float *inputs, const float *coeffs, float *last)
{
    __shared__ struct pairs pairs[2];
    const int thread = threadIdx.x;
    int from = 0;
    set(&pairs[from], thread, load_pair(inputs, coeffs));
    for (int count = SEQ_LEN / 2; count > 0; count /= 2) {
        __syncthreads();
        if (thread < count)
            set(&pairs[1 - from], thread, pair_join(get(&pairs[from], 2 * thread), get(&pairs[from], 2 * thread + 1)));
        from = 1 - from;
    }
    if (thread == 0)
        last[blockIdx.x] = pairs[from].sum[0];
}

/* Lane 0 gets what all lanes of the warp do together; the others get something that nobody uses. */
static __device__ __forceinline__ struct pair warp_reduce(struct pair mine)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const struct pair behind = {__shfl_down_sync(ALL_LANES, mine.product, d),
                                    __shfl_down_sync(ALL_LANES, mine.sum, d)};
        mine = pair_join(mine, behind);
    }
    return mine;
}

static __global__ void __launch_bounds__(SEQ_LEN) last_warp(const float *inputs, const float *coeffs, float *last)
{
    __shared__ struct pairs pairs[2];
    const int thread = threadIdx.x;
    int from = 0;
    set(&pairs[from], thread, load_pair(inputs, coeffs));
    for (int count = SEQ_LEN / 2; count >= 32; count /= 2) {
        __syncthreads();
        if (thread < count)
            set(&pairs[1 - from], thread, pair_join(get(&pairs[from], 2 * thread), get(&pairs[from], 2 * thread + 1)));
        from = 1 - from;
    }
    if (thread >= 32) /* the last 32 pairs are those of the first warp, which has written them itself */
        return;
    const struct pair all = warp_reduce(get(&pairs[from], thread));
    if (thread == 0)
        last[blockIdx.x] = all.sum;
}

static __global__ void __launch_bounds__(SEQ_LEN) shuffles(const float *inputs, const float *coeffs, float *last)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const struct pair mine = warp_reduce(load_pair(inputs, coeffs));
    if (lane == 0)
        totals.product[warp] = mine.product, totals.sum[warp] = mine.sum;
    __syncthreads();
    if (warp > 0)
        return;
    const struct pair total = {totals.product[lane], totals.sum[lane]}, all = warp_reduce(total);
    if (lane == 0)
        last[blockIdx.x] = all.sum;
}

static float *d_inputs, *d_coeffs, *d_last;

#define LAUNCHER(kernel)                                                                                               \
    static cudaError_t launch_##kernel(void)                                                                           \
    {                                                                                                                  \
        kernel<<<NUM_SEQS, SEQ_LEN>>>(d_inputs, d_coeffs, d_last);                                                     \
        return cudaGetLastError();                                                                                     \
    }
LAUNCHER(spread)
LAUNCHER(gathered)
LAUNCHER(moved)
LAUNCHER(last_warp)
LAUNCHER(shuffles)

int main(int argc, char **argv)
{
    static float inputs[NUM_SEQS * SEQ_LEN], coeffs[NUM_SEQS * SEQ_LEN], last[NUM_SEQS];
    const struct {
        const char *name;
        cudaError_t (*launch)(void);
    } ways[] = {{"spread", launch_spread},
                {"gathered", launch_gathered},
                {"moved", launch_moved},
                {"last_warp", launch_last_warp},
                {"shuffles", launch_shuffles}};
    for (int i = 0; i < NUM_SEQS * SEQ_LEN; i++)
        inputs[i] = rand() / (float)RAND_MAX, coeffs[i] = i % SEQ_LEN == 0 ? NAN : 1.0f - 0.01f * (i % 7);
    demo_stop_if(cudaMalloc((void **)&d_inputs, sizeof inputs), "reductions");
    demo_stop_if(cudaMalloc((void **)&d_coeffs, sizeof coeffs), "reductions");
    demo_stop_if(cudaMalloc((void **)&d_last, sizeof last), "reductions");
    demo_stop_if(cudaMemcpy(d_inputs, inputs, sizeof inputs, cudaMemcpyHostToDevice), "reductions");
    demo_stop_if(cudaMemcpy(d_coeffs, coeffs, sizeof coeffs, cudaMemcpyHostToDevice), "reductions");

    printf("%d sequences of %d elements, a block of as many threads for each\n\n", NUM_SEQS, SEQ_LEN);
    demo_begin(argc, argv, "barriers shared shared_lanes conflicts shuffles steps");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        demo_stop_if(cudaMemset(d_last, 0xFF, sizeof last), ways[w].name); /* NaN */
        demo_row(ways[w].name, ways[w].launch);
        demo_stop_if(cudaMemcpy(last, d_last, sizeof last, cudaMemcpyDeviceToHost), ways[w].name);
        for (int seq = 0; seq < NUM_SEQS; seq++) {
            double y = inputs[seq * SEQ_LEN];
            for (int i = seq * SEQ_LEN + 1; i < (seq + 1) * SEQ_LEN; i++)
                y = y * coeffs[i] + inputs[i];
            if (!(fabs(last[seq] - y) <= 1e-4 * y)) { /* all terms are positive: a float's rounding, some dozen times */
                fprintf(stderr, "%s: sequence %d ends with %g and not %g\n", ways[w].name, seq, last[seq], y);
                return 1;
            }
        }
    }
    return demo_end();
}
