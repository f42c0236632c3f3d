/* SPDX-License-Identifier: MIT */
/* stretches.c - a layer of Mamba-2 whose time is cut into stretches, one for each rank, and joined (docs/library.md).
   Here all ranks are in one program and on one device, so that it runs anywhere.

       cc stretches.c $(pkg-config --cflags --libs linrec) -o stretches                                            */
#include <stdio.h>
#include <stdlib.h>

#include <linrec.h>

/* Ends the program with a sentence if a call of the library, or of CUDA, has not succeeded. */
static void must(int status)
{
    if (status == LINREC_SUCCESS)
        return;
    fprintf(stderr, "stretches: %s\n", linrec_strerror(status));
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

enum { RANKS = 4, STEPS = 1000, PART = STEPS / RANKS, HEADS = 4, DK = 4, DV = 4, STATE = HEADS * DV * DK };

/* Runs a layer from this state, or from 0, to that one. */
static void forward(struct linrec_ssd layer, const float *initial_state, float *final_state)
{
    layer.initial_state = initial_state, layer.final_state = final_state;
    must(linrec_ssd_workspace(&layer, LINREC_FORWARD, &layer.workspace_bytes));
    layer.workspace = on_device(NULL, layer.workspace_bytes);
    must(linrec_workspace_init(layer.workspace, layer.workspace_bytes, NULL));
    must(linrec_ssd_forward(&layer, NULL));
}

int main(void)
{
    static float x[STEPS][HEADS * DV], dt[STEPS][HEADS], B[STEPS][DK], C[STEPS][DK], y[2][STEPS][HEADS * DV];
    static const float A[HEADS] = {-0.1f, -0.2f, -0.3f, -0.4f};
    for (int i = 0; i < STEPS * HEADS; i++) {
        for (int v = 0; v < DV; v++)
            x[0][i * DV + v] = 0.1f * (float)((i + v) % 97 - 48);
        dt[0][i] = 0.001f * (float)(i % 89), B[0][i] = 0.1f * (float)(i % 13), C[0][i] = 0.1f * (float)(i % 11);
    }
    const float *const d_x = on_device(x, sizeof x), *const d_dt = on_device(dt, sizeof dt);
    const float *const d_B = on_device(B, sizeof B), *const d_C = on_device(C, sizeof C);
    float *const d_y = on_device(NULL, sizeof y), *const state = on_device(NULL, STATE * sizeof(float));
    float *const transitions = on_device(NULL, RANKS * HEADS * sizeof(float));
    float *const finals = on_device(NULL, RANKS * STATE * sizeof(float));
    struct linrec_ssd layer = {.batch = 1, .seq_len = STEPS, .heads = HEADS, .groups = 1, .dk = DK, .dv = DV};
    layer.x = d_x, layer.dt = d_dt, layer.B = d_B, layer.C = d_C, layer.A = on_device(A, sizeof A), layer.out = d_y;
    forward(layer, NULL, NULL); /* in one pass, to compare with */

    struct linrec_ssd part[RANKS]; /* 1. Each rank: what its stretch does to a state, and leaves by itself. */
    for (size_t r = 0; r < RANKS; r++) {
        part[r] = layer, part[r].seq_len = PART, part[r].out = d_y + (STEPS + r * PART) * HEADS * DV;
        part[r].x = d_x + r * PART * HEADS * DV, part[r].dt = d_dt + r * PART * HEADS;
        part[r].B = d_B + r * PART * DK, part[r].C = d_C + r * PART * DK;
        must(linrec_ssd_transition(&part[r], transitions + r * HEADS, NULL));
        forward(part[r], NULL, finals + r * STATE);
    }
    /* 2. Several GPUs gather all ranks' `transitions` and `finals` here. */
    for (size_t r = 0; r < RANKS; r++) { /* 3. Each rank joins those before it, and runs from there. */
        struct linrec_chunk_state join = {.batch = 1, .chunks = r, .heads = HEADS, .dk = DV, .dv = DK, .decays = 1};
        join.h_local = finals, join.gamma = transitions, join.final_state = state;
        join.h_out = on_device(NULL, RANKS * STATE * sizeof(float)); /* not used */
        must(linrec_chunk_state_forward(&join, NULL));
        forward(part[r], state, NULL);
    }
    must_cuda(cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost));
    for (int l = PART - 1; l < STEPS; l += PART)
        printf("a stretch ends with %.4f; in one pass it is %.4f\n", (double)y[1][l][0], (double)y[0][l][0]);
    return 0;
}
