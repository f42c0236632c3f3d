/* SPDX-License-Identifier: MIT */
/* layout.c - three texts of different lengths, packed one behind the other, in the layout of models by liblinrec, and
   one more step of each in place (docs/library.md).

       cc layout.c $(pkg-config --cflags --libs linrec) -o layout                                                    */
#include <stdio.h>
#include <stdlib.h>

#include <linrec.h>

/* Ends the program with a sentence if a call of the library, or of CUDA, has not succeeded. */
static void must(int status)
{
    if (status == LINREC_SUCCESS)
        return;
    fprintf(stderr, "layout: %s\n", linrec_strerror(status));
    exit(1);
}

static void must_cuda(cudaError_t error)
{
    must(error == cudaSuccess ? LINREC_SUCCESS : LINREC_CUDA_ERROR + (int)error);
}

/* Memory on the device; what `from` holds, unless it is NULL. */
static void *on_device(const void *from, size_t bytes)
{
    void *to;
    must_cuda(cudaMalloc(&to, bytes));
    if (from != NULL)
        must_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

int main(void)
{
    enum { TEXTS = 3, CHANNELS = 8, STEPS = 1000 };
    static const int cu_seqlens[TEXTS + 1] = {0, 100, 450, STEPS};
    static float x[STEPS][CHANNELS], c[STEPS][CHANNELS], next[TEXTS][CHANNELS];

    for (int i = 0; i < STEPS * CHANNELS; i++)
        x[0][i] = 0.01f * (float)(i % 97), c[0][i] = 0.9f + 0.001f * (float)(i % 89);

    struct linrec_layout texts = {.batch = 1, .seq_len = STEPS, .channels = CHANNELS, .num_seqs = TEXTS};
    texts.cu_seqlens = on_device(cu_seqlens, sizeof cu_seqlens);
    texts.inputs = on_device(x, sizeof x), texts.coeffs = on_device(c, sizeof c);
    texts.outputs = on_device(NULL, sizeof x);
    texts.final_state = on_device(NULL, sizeof next); /* a state for each text and channel */
    must(linrec_layout_workspace(&texts, LINREC_FORWARD, &texts.workspace_bytes));
    texts.workspace = on_device(NULL, texts.workspace_bytes);
    must(linrec_workspace_init(texts.workspace, texts.workspace_bytes, NULL));
    must(linrec_layout_forward(&texts, NULL));

    /* One more step of each text, from where it ended: its inputs are the first rows of x and c. */
    struct linrec_step step = {.batch = TEXTS, .channels = CHANNELS, .num_slots = TEXTS};
    step.inputs = texts.inputs, step.coeffs = texts.coeffs, step.states = texts.final_state;
    step.outputs = on_device(NULL, sizeof next);
    must(linrec_layout_step(&step, NULL));
    must_cuda(cudaMemcpy(next, step.outputs, sizeof next, cudaMemcpyDeviceToHost));

    for (int text = 0; text < TEXTS; text++) {
        double expected = 0.0;
        for (int t = cu_seqlens[text]; t < cu_seqlens[text + 1]; t++)
            expected = (double)c[t][0] * expected + (double)x[t][0];
        expected = (double)c[text][0] * expected + (double)x[text][0];
        printf("channel 0 of text %d goes on with %.4f; a loop says %.4f\n", text, (double)next[text][0], expected);
    }
    return 0;
}
