/* SPDX-License-Identifier: MIT */
/* stores.cu - finds out what the loop waits for: the same loop with one thing changed at a time, timed (README.md,
   "Measure").

       02_cuda_ref_stores [FILE.csv]

   `full` is full_blocks of the chapter. The others leave the stores out, or the loads, or move 16 bytes at a time
   (float4); the first two no longer compute the recurrence: they are there to be timed. Needs a GPU: the simulator has
   no clock. */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

#include "../../common/base/output.h"
#include "../../common/harness/table.h"

enum variant { FULL, NO_STORES, ONLY_STORES, WIDE_STORES, WIDE, NUM_VARIANTS };
static const char *const names[NUM_VARIANTS] = {"full", "no_stores", "only_stores", "wide_stores", "wide"};

enum { SEQ_LEN = 16384, THREADS = 128, REPEATS = 11 };

template <int variant>
static __global__ void loop(int num_seqs, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += (size_t)seq * SEQ_LEN;
    coeffs += (size_t)seq * SEQ_LEN;
    outputs += (size_t)seq * SEQ_LEN;

    float y = 0.0f;
    for (int l = 0; l < SEQ_LEN; l += 4) {
        float x[4], c[4], out[4];
        if (variant == WIDE) { /* 16 bytes at a time: a row of 16384 floats starts at a multiple of 16 */
            const float4 x4 = *(const float4 *)(inputs + l), c4 = *(const float4 *)(coeffs + l);
            x[0] = x4.x, x[1] = x4.y, x[2] = x4.z, x[3] = x4.w;
            c[0] = c4.x, c[1] = c4.y, c[2] = c4.z, c[3] = c4.w;
        }
        for (int i = 0; i < 4; i++) {
            if (variant != WIDE) {
                x[i] = variant == ONLY_STORES ? 1.0f : inputs[l + i];
                c[i] = variant == ONLY_STORES ? 0.5f : coeffs[l + i];
            }
            y = y * c[i] + x[i];
            out[i] = y;
            if (variant == FULL || variant == ONLY_STORES)
                outputs[l + i] = y;
        }
        if (variant == WIDE_STORES || variant == WIDE)
            *(float4 *)(outputs + l) = make_float4(out[0], out[1], out[2], out[3]);
    }
    if (variant == NO_STORES) /* one, so that the compiler keeps the loop */
        outputs[SEQ_LEN - 1] = y;
}

#ifdef CUSIM
int main(void)
{
    printf("stores: skipped, it measures time, and the simulator has none\n");
    return 0;
}
#else
static void stop_if(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "stores: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

template <int variant>
static double median_ms(int num_seqs, const float *inputs, const float *coeffs, float *outputs)
{
    float ms[REPEATS];
    cudaEvent_t start, stop;
    stop_if(cudaEventCreate(&start));
    stop_if(cudaEventCreate(&stop));
    for (int i = -1; i < REPEATS; i++) { /* the first one warms up */
        stop_if(cudaEventRecord(start));
        loop<variant><<<(num_seqs + THREADS - 1) / THREADS, THREADS>>>(num_seqs, inputs, coeffs, outputs);
        stop_if(cudaGetLastError());
        stop_if(cudaEventRecord(stop));
        stop_if(cudaEventSynchronize(stop));
        if (i >= 0)
            stop_if(cudaEventElapsedTime(&ms[i], start, stop));
    }
    stop_if(cudaEventDestroy(start));
    stop_if(cudaEventDestroy(stop));
    return timing_of(ms, REPEATS).median_ms;
}

int main(int argc, char **argv)
{
    static struct machine machine;
    struct output output;
    float *inputs, *coeffs, *outputs;
    if (machine_find(false, &machine) != 0)
        return 2;
    const int num_seqs = 100 * machine.device.multiProcessorCount;
    const size_t bytes = (size_t)num_seqs * SEQ_LEN * sizeof(float); /* a few hundred megabytes: far past the caches */
    stop_if(cudaMalloc(&inputs, bytes));
    stop_if(cudaMalloc(&coeffs, bytes));
    stop_if(cudaMalloc(&outputs, bytes));
    stop_if(cudaMemset(inputs, 0, bytes));
    stop_if(cudaMemset(coeffs, 0, bytes));

    const double ms[NUM_VARIANTS] = {
        median_ms<FULL>(num_seqs, inputs, coeffs, outputs),
        median_ms<NO_STORES>(num_seqs, inputs, coeffs, outputs),
        median_ms<ONLY_STORES>(num_seqs, inputs, coeffs, outputs),
        median_ms<WIDE_STORES>(num_seqs, inputs, coeffs, outputs),
        median_ms<WIDE>(num_seqs, inputs, coeffs, outputs),
    };
    printf("%d sequences of %d elements on %s\n", num_seqs, SEQ_LEN, machine.device.name);
    for (int v = 0; v < NUM_VARIANTS; v++)
        printf("%-12s %8.3f ms\n", names[v], ms[v]);

    if (argc > 1) {
        if (output_open(&output, argv[1]) != 0)
            return 2;
        char command[512];
        snprintf(command, sizeof command, "%s %s", argv[0], argv[1]);
        csv_write_head(output.file, &machine, command, "variant,num_seqs,seq_len,device,median_ms");
        for (int v = 0; v < NUM_VARIANTS; v++)
            fprintf(output.file, "%s,%d,%d,%s,%.4f\n", names[v], num_seqs, SEQ_LEN, machine.device.name, ms[v]);
        return output_commit(&output);
    }
    return 0;
}
#endif
