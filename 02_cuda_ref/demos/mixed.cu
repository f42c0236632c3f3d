/* SPDX-License-Identifier: MIT */
/* mixed.cu - sequences of mixed lengths, and how many lanes of a warp have something to do (further/divergence.md).

       02_cuda_ref_mixed [FILE.csv]

   The sequences lie one behind the other, and `offsets` says where each begins; the next one's offset is its end:

       offsets  0       3   4           10   12
                |s0     |s1 |s2         |s3  |                                                                        */
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/linrec/demo_table.h"

#ifdef CUSIM
enum { NUM_SEQS = 1024 };
#else /* enough to fill a GPU */
enum { NUM_SEQS = 131072 };
#endif
enum { LONGEST = 1000, THREADS = 128 };

/* A thread for each sequence, in the order of the list `order`. */
static __global__ void thread_each(int num_seqs, const int *__restrict__ order, const int *__restrict__ offsets,
                                   const float *__restrict__ inputs, const float *__restrict__ coeffs,
                                   float *__restrict__ outputs)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= num_seqs)
        return;
    const int seq = order[thread], end = offsets[seq + 1];
    float y = 0.0f;
    for (int i = offsets[seq]; i < end; i++) {
        y = i == offsets[seq] ? inputs[i] : y * coeffs[i] + inputs[i];
        outputs[i] = y;
    }
}

/* A warp for each sequence: each lane has one of 32 neighbours. In five steps a lane takes what comes from ever more
   lanes before it, and so they all have their outputs. Chapter 04 explains these steps. */
static __global__ void warp_each(int num_seqs, const int *__restrict__ offsets, const float *__restrict__ inputs,
                                 const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int seq = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (seq >= num_seqs)
        return;
    const int begin = offsets[seq], end = offsets[seq + 1];
    float carry = 0.0f;
    for (int base = begin; base < end; base += 32) {
        const int i = base + lane;
        float y = i < end ? inputs[i] : 0.0f, c = i < end && i > begin ? coeffs[i] : 1.0f;
        for (int d = 1; d < 32; d *= 2) {
            const float y_before = __shfl_up_sync(0xFFFFFFFFu, y, d), c_before = __shfl_up_sync(0xFFFFFFFFu, c, d);
            if (lane >= d)
                y = y_before * c + y, c = c_before * c;
        }
        y = base == begin ? y : carry * c + y;
        carry = __shfl_sync(0xFFFFFFFFu, y, 31);
        if (i < end)
            outputs[i] = y;
    }
}

static int offsets[NUM_SEQS + 1];
static int *d_offsets, *d_order, *d_sorted;
static float *d_inputs, *d_coeffs, *d_outputs;

static int length_of(int seq)
{
    return offsets[seq + 1] - offsets[seq];
}

/* Longest first; of two that are as long, the one that comes first. */
static int by_length(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return length_of(x) != length_of(y) ? length_of(y) - length_of(x) : x - y;
}

static cudaError_t as_they_come(void)
{
    thread_each<<<NUM_SEQS / THREADS, THREADS>>>(NUM_SEQS, d_order, d_offsets, d_inputs, d_coeffs, d_outputs);
    return cudaGetLastError();
}

static cudaError_t sorted(void)
{
    thread_each<<<NUM_SEQS / THREADS, THREADS>>>(NUM_SEQS, d_sorted, d_offsets, d_inputs, d_coeffs, d_outputs);
    return cudaGetLastError();
}

static cudaError_t a_warp_each(void)
{
    warp_each<<<NUM_SEQS * 32 / THREADS, THREADS>>>(NUM_SEQS, d_offsets, d_inputs, d_coeffs, d_outputs);
    return cudaGetLastError();
}

static void *on_device(const void *host, size_t bytes)
{
    void *device = NULL;
    demo_stop_if(cudaMalloc(&device, bytes), "mixed");
    demo_stop_if(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "mixed");
    return device;
}

/* The loop on the host, against what is on the device. */
static void check(const float *inputs, const float *coeffs, float *outputs, const char *name)
{
    demo_stop_if(cudaMemcpy(outputs, d_outputs, (size_t)offsets[NUM_SEQS] * sizeof *outputs, cudaMemcpyDeviceToHost),
                 name);
    for (int seq = 0; seq < NUM_SEQS; seq++) {
        double y = 0.0;
        for (int i = offsets[seq]; i < offsets[seq + 1]; i++) {
            y = i == offsets[seq] ? inputs[i] : y * coeffs[i] + inputs[i];
            if (!(fabs(outputs[i] - y) <= 1e-4)) { /* inputs up to 1, coefficients up to 0.9: a sum of up to 10 */
                fprintf(stderr, "%s: outputs[%d] is %g and not %g\n", name, i, outputs[i], y);
                exit(1);
            }
        }
    }
    demo_stop_if(cudaMemset(d_outputs, 0xFF, (size_t)offsets[NUM_SEQS] * sizeof *outputs), name); /* NaN again */
}

int main(int argc, char **argv)
{
    static int order[NUM_SEQS];
    for (int seq = 0; seq < NUM_SEQS; seq++) { /* many short ones, and a few long ones */
        const double u = rand() / (RAND_MAX + 1.0);
        offsets[seq + 1] = offsets[seq] + 1 + (int)(u * u * u * LONGEST);
        order[seq] = seq;
    }
    const int count = offsets[NUM_SEQS];
    const size_t bytes = (size_t)count * sizeof(float);
    float *inputs = (float *)malloc(bytes), *coeffs = (float *)malloc(bytes), *outputs = (float *)malloc(bytes);
    if (inputs == NULL || coeffs == NULL || outputs == NULL) {
        fprintf(stderr, "mixed: no memory\n");
        return 1;
    }
    for (int i = 0; i < count; i++)
        inputs[i] = rand() / (float)RAND_MAX, coeffs[i] = 0.9f * (rand() / (float)RAND_MAX);
    d_inputs = (float *)on_device(inputs, bytes), d_coeffs = (float *)on_device(coeffs, bytes);
    d_outputs = (float *)on_device(outputs, bytes);
    d_offsets = (int *)on_device(offsets, sizeof offsets), d_order = (int *)on_device(order, sizeof order);
    qsort(order, NUM_SEQS, sizeof *order, by_length);
    d_sorted = (int *)on_device(order, sizeof order);

    printf("%d sequences of 1 to %d elements, %d in all\n\n", NUM_SEQS, LONGEST, count);
    demo_begin(argc, argv, "stores lanes sectors steps");
    demo_row("as_they_come", as_they_come);
    check(inputs, coeffs, outputs, "as_they_come");
    demo_row("sorted", sorted);
    check(inputs, coeffs, outputs, "sorted");
    demo_row("a_warp_each", a_warp_each);
    check(inputs, coeffs, outputs, "a_warp_each");
    return demo_end();
}
