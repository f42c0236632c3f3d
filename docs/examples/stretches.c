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

/* So chosen that the part of each rank begins at a multiple of 16 bytes in all arrays, as the library wants it. */
enum { RANKS = 4, STEPS = 1000, PART = STEPS / RANKS, HEADS = 4, DK = 8, DV = 4, STATE = HEADS * DV * DK };

/* Numbers to compute with, which repeat after a while: begin, begin + step, begin + 2 step, ... */
static const float *numbers(size_t count, float begin, float step, size_t period)
{
    static float on_host[STEPS * HEADS * DK];
    for (size_t i = 0; i < count; i++)
        on_host[i] = begin + step * (float)(i % period);
    return on_device(on_host, count * sizeof(float));
}

/* Runs a layer from this state, or if it is NULL from 0, and writes the state in which it ends to final_state. */
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
    static float y[2][STEPS][HEADS * DV]; /* [0]: of one pass, [1]: of stretches */
    const float *const x = numbers(STEPS * HEADS * DV, -4.8f, 0.1f, 97);
    const float *const dt = numbers(STEPS * HEADS, 0.0f, 0.001f, 89);
    const float *const B = numbers(STEPS * DK, 0.0f, 0.1f, 13);
    const float *const C = numbers(STEPS * DK, 0.0f, 0.1f, 11);
    float *const one_pass = on_device(NULL, sizeof y[0]), *const out = on_device(NULL, sizeof y[1]);
    float *const transitions = on_device(NULL, RANKS * HEADS * sizeof(float)); /* (RANKS, HEADS) */
    float *const finals = on_device(NULL, RANKS * STATE * sizeof(float));      /* (RANKS, HEADS, DV, DK) */
    float *const not_used = on_device(NULL, RANKS * STATE * sizeof(float));
    float *const state = on_device(NULL, STATE * sizeof(float));

    struct linrec_ssd layer = {.batch = 1, .seq_len = STEPS, .heads = HEADS, .groups = 1, .dk = DK, .dv = DV};
    layer.x = x, layer.dt = dt, layer.A = numbers(HEADS, -0.1f, -0.1f, HEADS), layer.B = B, layer.C = C;
    layer.out = one_pass;
    forward(layer, NULL, NULL);

    /* 1. Each rank: its transition, and the state in which its stretch ends if it begins from 0. */
    struct linrec_ssd part[RANKS];
    for (size_t r = 0; r < RANKS; r++) {
        const size_t first = r * PART; /* step */
        part[r] = layer, part[r].seq_len = PART, part[r].out = out + first * HEADS * DV;
        part[r].x = x + first * HEADS * DV, part[r].dt = dt + first * HEADS;
        part[r].B = B + first * DK, part[r].C = C + first * DK;
        must(linrec_ssd_transition(&part[r], transitions + r * HEADS, NULL));
        forward(part[r], NULL, finals + r * STATE);
    }

    /* 2. On several GPUs, an all-gather: now each rank has all transitions and finals. */

    /* 3. Each rank joins those before it, a chunk for each, and runs from there. A head's state has DV rows. */
    for (size_t r = 0; r < RANKS; r++) {
        struct linrec_chunk_state join = {.batch = 1, .chunks = r, .heads = HEADS, .dk = DV, .dv = DK, .decays = 1};
        join.h_local = finals, join.gamma = transitions, join.h_out = not_used, join.final_state = state;
        must(linrec_chunk_state_forward(&join, NULL));
        forward(part[r], state, NULL);
    }

    must_cuda(cudaMemcpy(y[0], one_pass, sizeof y[0], cudaMemcpyDeviceToHost));
    must_cuda(cudaMemcpy(y[1], out, sizeof y[1], cudaMemcpyDeviceToHost));
    for (int l = PART - 1; l < STEPS; l += PART)
        printf("a stretch ends with %.4f; in one pass it is %.4f\n", (double)y[1][l][0], (double)y[0][l][0]);
    return 0;
}
