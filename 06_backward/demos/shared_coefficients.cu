/* SPDX-License-Identifier: MIT */
/* shared_coefficients.cu - coefficients that all sequences share, one for each position, and their gradient
   (further/shared_coefficients.md). Given the outputs and d_inputs of all sequences it is a sum down a column:

       d_coeffs[l] = sum over all sequences s of outputs[s][l-1] * d_inputs[s][l],     d_coeffs[0] = 0

       06_backward_shared_coefficients [FILE.csv]

   Four ways to that sum. After the table stands a number for each, which says whether their bits are the same. */
#include <cuda_runtime.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/linrec/demo_table.h"

#ifdef CUSIM
enum { NUM_SEQS = 256 };
#else /* enough to fill a GPU */
enum { NUM_SEQS = 16384 };
#endif
enum {
    SEQ_LEN = 512,
    THREADS = 128,
    COLUMNS = 32, /* of a block's part: a warp's lanes have a column each, */
    ROWS = 64,    /* and its warps share the rows */
    WARPS = 8,
    NUM_WAYS = 4,
};

/* What a sequence contributes to the gradient of coefficient l. */
static __device__ __forceinline__ float product(const float *outputs, const float *d_inputs, int seq, int l)
{
    const size_t i = (size_t)seq * SEQ_LEN + l;
    return l == 0 ? 0.0f : outputs[i - 1] * d_inputs[i];
}

/* A thread for each sequence, as in chapter 02: all lanes of a warp add to the same address at the same time. */
static __global__ void along(const float *__restrict__ outputs, const float *__restrict__ d_inputs, float *d_coeffs)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= NUM_SEQS)
        return;
    for (int l = 0; l < SEQ_LEN; l++)
        atomicAdd(&d_coeffs[l], product(outputs, d_inputs, seq, l));
}

/* A thread for each element: the lanes of a warp add to neighbours. d_coeffs is 0 before, here and above. */
static __global__ void across(const float *__restrict__ outputs, const float *__restrict__ d_inputs, float *d_coeffs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, seq = i / SEQ_LEN, l = i % SEQ_LEN;
    if (seq < NUM_SEQS)
        atomicAdd(&d_coeffs[l], product(outputs, d_inputs, seq, l));
}

/* The sum of a block's part, ROWS x COLUMNS, for the lane's column; in warp 0 it is the whole of it. */
static __device__ __forceinline__ float block_sum(const float *outputs, const float *d_inputs)
{
    __shared__ float sums[WARPS][COLUMNS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int l = blockIdx.x * COLUMNS + lane, first = blockIdx.y * ROWS;
    float sum = 0.0f;
    for (int row = warp; row < ROWS; row += WARPS)
        sum += product(outputs, d_inputs, first + row, l);
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0)
        for (int w = 1; w < WARPS; w++)
            sum += sums[w][lane];
    return sum;
}

/* One atomic for each block and column. */
static __global__ void block_then_atomic(const float *__restrict__ outputs, const float *__restrict__ d_inputs,
                                         float *d_coeffs)
{
    const float sum = block_sum(outputs, d_inputs);
    if (threadIdx.x < COLUMNS)
        atomicAdd(&d_coeffs[blockIdx.x * COLUMNS + threadIdx.x], sum);
}

/* Or each block leaves its sums, partial: (NUM_SEQS / ROWS, SEQ_LEN), and a second kernel adds them up in order. */
static __global__ void leave_sums(const float *__restrict__ outputs, const float *__restrict__ d_inputs, float *partial)
{
    const float sum = block_sum(outputs, d_inputs);
    if (threadIdx.x < COLUMNS)
        partial[blockIdx.y * SEQ_LEN + blockIdx.x * COLUMNS + threadIdx.x] = sum;
}

static __global__ void add_sums(const float *__restrict__ partial, float *d_coeffs)
{
    const int l = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int part = 0; part < NUM_SEQS / ROWS; part++)
        sum += partial[part * SEQ_LEN + l];
    d_coeffs[l] = sum;
}

static float *d_outputs, *d_d_inputs, *d_d_coeffs, *d_partial;

static cudaError_t set_to_0(void)
{
    return cudaMemsetAsync(d_d_coeffs, 0, SEQ_LEN * sizeof(float), NULL);
}

static cudaError_t launch_along(void)
{
    const cudaError_t error = set_to_0();
    along<<<NUM_SEQS / THREADS, THREADS>>>(d_outputs, d_d_inputs, d_d_coeffs);
    return error != cudaSuccess ? error : cudaGetLastError();
}

static cudaError_t launch_across(void)
{
    const cudaError_t error = set_to_0();
    across<<<NUM_SEQS * SEQ_LEN / THREADS, THREADS>>>(d_outputs, d_d_inputs, d_d_coeffs);
    return error != cudaSuccess ? error : cudaGetLastError();
}

static const dim3 parts(SEQ_LEN / COLUMNS, NUM_SEQS / ROWS);

static cudaError_t launch_block_then_atomic(void)
{
    const cudaError_t error = set_to_0();
    block_then_atomic<<<parts, 32 * WARPS>>>(d_outputs, d_d_inputs, d_d_coeffs);
    return error != cudaSuccess ? error : cudaGetLastError();
}

static cudaError_t launch_two_passes(void)
{
    leave_sums<<<parts, 32 * WARPS>>>(d_outputs, d_d_inputs, d_partial);
    const cudaError_t error = cudaGetLastError();
    add_sums<<<SEQ_LEN / THREADS, THREADS>>>(d_partial, d_d_coeffs);
    return error != cudaSuccess ? error : cudaGetLastError();
}

/* All bits as one number (FNV-1a): results that differ in one of them differ here. */
static uint32_t bits_of(const float *values, int count)
{
    uint32_t hash = 2166136261u;
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int byte = 0; byte < 4; byte++)
            hash = (hash ^ (bits >> 8 * byte & 0xFF)) * 16777619u;
    }
    return hash;
}

int main(int argc, char **argv)
{
    static float outputs[NUM_SEQS * SEQ_LEN], d_inputs[NUM_SEQS * SEQ_LEN], d_coeffs[SEQ_LEN];
    const struct {
        const char *name;
        cudaError_t (*launch)(void);
    } ways[NUM_WAYS] = {{"along", launch_along},
                        {"across", launch_across},
                        {"block_then_atomic", launch_block_then_atomic},
                        {"two_passes", launch_two_passes}};
    uint32_t bits[NUM_WAYS];
    for (int i = 0; i < NUM_SEQS * SEQ_LEN; i++)
        outputs[i] = rand() / (float)RAND_MAX, d_inputs[i] = rand() / (float)RAND_MAX;
    demo_stop_if(cudaMalloc((void **)&d_outputs, sizeof outputs), "shared_coefficients");
    demo_stop_if(cudaMalloc((void **)&d_d_inputs, sizeof d_inputs), "shared_coefficients");
    demo_stop_if(cudaMalloc((void **)&d_d_coeffs, sizeof d_coeffs), "shared_coefficients");
    demo_stop_if(cudaMalloc((void **)&d_partial, NUM_SEQS / ROWS * sizeof d_coeffs), "shared_coefficients");
    demo_stop_if(cudaMemcpy(d_outputs, outputs, sizeof outputs, cudaMemcpyHostToDevice), "shared_coefficients");
    demo_stop_if(cudaMemcpy(d_d_inputs, d_inputs, sizeof d_inputs, cudaMemcpyHostToDevice), "shared_coefficients");

    printf("%d sequences of %d elements\n\n", NUM_SEQS, SEQ_LEN);
    demo_begin(argc, argv, "launches atomics contention loads stores sectors");
    for (int w = 0; w < NUM_WAYS; w++) {
        demo_row(ways[w].name, ways[w].launch);
        demo_stop_if(cudaMemcpy(d_coeffs, d_d_coeffs, sizeof d_coeffs, cudaMemcpyDeviceToHost), ways[w].name);
        bits[w] = bits_of(d_coeffs, SEQ_LEN);
        for (int l = 0; l < SEQ_LEN; l++) {
            double sum = 0.0;
            for (int seq = 0; l > 0 && seq < NUM_SEQS; seq++)
                sum += (double)outputs[seq * SEQ_LEN + l - 1] * d_inputs[seq * SEQ_LEN + l];
            if (!(fabs(d_coeffs[l] - sum) <= NUM_SEQS * 6e-8 * sum)) { /* half a last bit for each of the additions */
                fprintf(stderr, "%s: d_coeffs[%d] is %g and not %g\n", ways[w].name, l, d_coeffs[l], sum);
                return 1;
            }
        }
    }
    printf("\nbits");
    for (int w = 0; w < NUM_WAYS; w++)
        printf("  %s %08X", ways[w].name, bits[w]);
    printf("\n");
    return demo_end();
}
