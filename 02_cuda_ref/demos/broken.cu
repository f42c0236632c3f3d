/* SPDX-License-Identifier: MIT */
/* broken.cu - a right kernel and two with a mistake each, to see who notices (BREAK_IT.md).

       02_cuda_ref_broken none | past_the_end | no_check

   Runs one of them on 100 sequences of 50 elements and compares the result with the loop on the host. */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_SEQS = 100, SEQ_LEN = 50, COUNT = NUM_SEQS * SEQ_LEN, THREADS = 128 };

/* No mistake. */
static __global__ void none(const float *inputs, const float *coeffs, float *outputs)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= NUM_SEQS)
        return;
    float y = 0.0f;
    for (int l = 0; l < SEQ_LEN; l++) {
        const int i = seq * SEQ_LEN + l;
        y = l == 0 ? inputs[i] : y * coeffs[i] + inputs[i];
        outputs[i] = y;
    }
}

/* Mistake: <= walks one element too far. For all sequences but the last, that element belongs to the next one. */
static __global__ void past_the_end(const float *inputs, const float *coeffs, float *outputs)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= NUM_SEQS)
        return;
    float y = 0.0f;
    for (int l = 0; l <= SEQ_LEN; l++) {
        const int i = seq * SEQ_LEN + l;
        y = l == 0 ? inputs[i] : y * coeffs[i] + inputs[i];
        outputs[i] = y;
    }
}

/* Mistake: there are 128 threads for 100 sequences, and no thread checks whether it has one. */
static __global__ void no_check(const float *inputs, const float *coeffs, float *outputs)
{
    const int seq = blockIdx.x * blockDim.x + threadIdx.x;
    float y = 0.0f;
    for (int l = 0; l < SEQ_LEN; l++) {
        const int i = seq * SEQ_LEN + l;
        y = l == 0 ? inputs[i] : y * coeffs[i] + inputs[i];
        outputs[i] = y;
    }
}

static void stop_if(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

/* The number of elements that differ from the loop on the host. Bits need not agree (a GPU fuses the multiplication and
   the addition), so neighbours within 1e-5 count as equal. Written so that NaN differs. */
static int count_wrong(const float *inputs, const float *coeffs, const float *outputs)
{
    int wrong = 0;
    for (int seq = 0; seq < NUM_SEQS; seq++) {
        float y = 0.0f;
        for (int l = 0; l < SEQ_LEN; l++) {
            const int i = seq * SEQ_LEN + l;
            y = l == 0 ? inputs[i] : y * coeffs[i] + inputs[i];
            const float error = outputs[i] > y ? outputs[i] - y : y - outputs[i];
            wrong += !(error <= 1e-5f);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static float inputs[COUNT], coeffs[COUNT], outputs[COUNT];
    float *on_device[3];
    const size_t bytes = sizeof inputs;
    const char *name = argc == 2 ? argv[1] : "";
    if (strcmp(name, "none") != 0 && strcmp(name, "past_the_end") != 0 && strcmp(name, "no_check") != 0) {
        fprintf(stderr, "usage: %s none | past_the_end | no_check\n", argc > 0 ? argv[0] : "broken");
        return 2;
    }
    for (int i = 0; i < COUNT; i++) {
        inputs[i] = 1.0f + (float)(i % 7);
        coeffs[i] = 0.125f * (float)(1 + i % 5);
    }
    for (int i = 0; i < 3; i++)
        stop_if(cudaMalloc(&on_device[i], bytes), "cudaMalloc");
    stop_if(cudaMemcpy(on_device[0], inputs, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    stop_if(cudaMemcpy(on_device[1], coeffs, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

    if (strcmp(name, "none") == 0)
        none<<<1, THREADS>>>(on_device[0], on_device[1], on_device[2]);
    else if (strcmp(name, "past_the_end") == 0)
        past_the_end<<<1, THREADS>>>(on_device[0], on_device[1], on_device[2]);
    else
        no_check<<<1, THREADS>>>(on_device[0], on_device[1], on_device[2]);
    stop_if(cudaGetLastError(), "launch");
    stop_if(cudaDeviceSynchronize(), "kernel");
    stop_if(cudaMemcpy(outputs, on_device[2], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (int i = 0; i < 3; i++)
        stop_if(cudaFree(on_device[i]), "cudaFree");

    const int wrong = count_wrong(inputs, coeffs, outputs);
    printf("%s: %d of %d elements are wrong\n", name, wrong, COUNT);
    return wrong != 0;
}
