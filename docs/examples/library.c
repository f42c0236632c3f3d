/* SPDX-License-Identifier: MIT */
/* library.c - a moving average of a few long sequences by liblinrec: y[l] = 0.9 y[l-1] + 0.1 x[l] (docs/library.md).

       cc library.c $(pkg-config --cflags --libs linrec) -o library                                                  */
#include <stdio.h>
#include <stdlib.h>

#include <linrec.h>

/* Ends the program with a sentence if a call of the library, or of CUDA, has not succeeded. */
static void must(int status)
{
    if (status == LINREC_SUCCESS)
        return;
    fprintf(stderr, "library: %s\n", linrec_strerror(status));
    exit(1);
}

static void must_cuda(cudaError_t error)
{
    must(error == cudaSuccess ? LINREC_SUCCESS : LINREC_CUDA_ERROR + (int)error);
}

int main(void)
{
    enum { NUM_SEQS = 3, SEQ_LEN = 10000 };
    static float x[NUM_SEQS][SEQ_LEN], c[NUM_SEQS][SEQ_LEN], y[NUM_SEQS][SEQ_LEN];
    struct linrec_recurrence average = {.num_seqs = NUM_SEQS, .seq_len = SEQ_LEN};
    void *device_x, *device_c, *device_y;
    double expected = 0.0;

    for (int i = 0; i < NUM_SEQS * SEQ_LEN; i++)
        c[0][i] = 0.9f, x[0][i] = 0.1f * (float)(i % SEQ_LEN % 100);

    must(linrec_recurrence_workspace(&average, LINREC_FORWARD, &average.workspace_bytes));
    must_cuda(cudaMalloc(&average.workspace, average.workspace_bytes));
    must_cuda(cudaMalloc(&device_x, sizeof x));
    must_cuda(cudaMalloc(&device_c, sizeof c));
    must_cuda(cudaMalloc(&device_y, sizeof y));
    must_cuda(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    must_cuda(cudaMemcpy(device_c, c, sizeof c, cudaMemcpyHostToDevice));

    average.inputs = device_x, average.coeffs = device_c, average.outputs = device_y;
    must(linrec_workspace_init(average.workspace, average.workspace_bytes, NULL));
    must(linrec_recurrence_forward(&average, NULL)); /* on the default stream, so that the copy waits for it */
    must_cuda(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost));

    for (int l = 0; l < SEQ_LEN; l++)
        expected = 0.9 * expected + 0.1 * (l % 100);
    printf("the average of each sequence ends with %.4f, %.4f, %.4f; a loop says %.4f\n", (double)y[0][SEQ_LEN - 1],
           (double)y[1][SEQ_LEN - 1], (double)y[2][SEQ_LEN - 1], expected);
    return 0;
}
