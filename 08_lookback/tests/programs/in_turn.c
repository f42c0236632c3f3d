/* SPDX-License-Identifier: MIT */
/* in_turn.c - launches of chapter 08 that share one workspace, one after the other:

       in_turn kernels   all kernels that do so, with one_hop between them, of sizes that change
       in_turn graph     one_hop, captured once and launched several times, with other launches between
       in_turn numbers   one_hop until its launch's number begins again: a few tiles each time, and then many
       in_turn begun     one_hop after a launch that did not come to its end, in a workspace that is initialised again

   Each says in one line what came out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lookback.h"
#include "../../one_hop_plan.h"

static const struct {
    const char *name;
    linrec_launcher *forward, *backward;
    size_t (*workspace)(const struct linrec_args *args);
} kernels[] = {
    {"one_hop", lookback_one_hop, lookback_one_hop_backward, lookback_one_hop_workspace},
    {"resident", lookback_resident, lookback_resident_backward, lookback_resident_workspace},
    {"persistent_cluster", lookback_persistent_cluster, lookback_persistent_cluster_backward,
     lookback_persistent_cluster_workspace},
    {"lookback", lookback_one_pass, NULL, lookback_workspace},
    {"chained", lookback_chained, NULL, lookback_workspace},
    {"default", linrec_forward, linrec_backward, linrec_workspace},
};

enum { MOST = 40000 }; /* elements */

static float *arrays[5], host[MOST];
static struct linrec_args args;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorName(error));
    exit(1);
}

/* Sequences of ones, with coefficients 1: results are whole numbers. */
static void choose(size_t num_seqs, size_t seq_len, int threads)
{
    args.num_seqs = num_seqs, args.seq_len = seq_len;
    args.config = (struct launch_config){threads != 0, threads, 0};
}

/* Whether the sums are right. What is there is wiped out afterwards. */
static bool is_right(bool backward)
{
    float *const result = backward ? args.d_inputs : args.outputs;
    const size_t elems = args.num_seqs * args.seq_len;
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    must(cudaMemcpy(host, result, elems * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    must(cudaMemset(result, 0, elems * sizeof(float)), "cudaMemset");
    for (size_t i = 0; i < elems; i++)
        if (host[i] != (float)(backward ? args.seq_len - i % args.seq_len : i % args.seq_len + 1))
            return false;
    return true;
}

static void run(int kernel, bool backward)
{
    must((backward ? kernels[kernel].backward : kernels[kernel].forward)(&args, NULL), kernels[kernel].name);
    if (!is_right(backward)) {
        printf("%s %s, %zu x %zu: wrong\n", kernels[kernel].name, backward ? "backward" : "forward", args.num_seqs,
               args.seq_len);
        exit(1);
    }
}

static void run_kernels(void)
{
    static const size_t shapes[][2] = {{1, 7000}, {2, 20000}, {1, 1}, {13, 129}, {3, 10001}, {1, 40000}};
    for (int i = 0; i < 6; i++)
        for (int k = 1; k < 6; k++) {
            choose(shapes[i][0], shapes[i][1], 0);
            run(k, false);
            choose(shapes[(i + k) % 6][0], shapes[(i + k) % 6][1], 0);
            run(0, i % 2 == 1);
            choose(1, 100 * (size_t)(10 * i + k), 32); /* tiles of 128 */
            run(0, k % 2 == 1);
            if (kernels[k].backward != NULL) {
                choose(shapes[(i + 3) % 6][0], shapes[(i + 3) % 6][1], 0);
                run(k, true);
            }
        }
}

static void run_graph(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStream_t stream;
    must(cudaStreamCreate(&stream), "a stream");
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "the capture");
    choose(2, 9001, 0);
    must(lookback_one_hop(&args, stream), "one_hop");
    must(lookback_one_hop_backward(&args, stream), "one_hop, backward");
    must(cudaStreamEndCapture(stream, &graph), "the end of the capture");
    must(cudaGraphInstantiate(&ready, graph, 0), "the graph");
    for (int i = 0; i < 4; i++) {
        choose(2, 9001, 0);
        must(cudaMemset(args.outputs, 0, 18002 * sizeof(float)), "cudaMemset");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        must(cudaGraphLaunch(ready, stream), "the graph's launch");
        if (!is_right(false) || !is_right(true)) {
            printf("the graph's launch number %d: wrong\n", i);
            exit(1);
        }
        choose(1, 3000 * (size_t)(i + 1), i % 2 * 32);
        run(i % 2, false);
    }
}

static void set_number(unsigned launch)
{
    must(cudaMemcpy(args.workspace, &launch, sizeof launch, cudaMemcpyHostToDevice), "cudaMemcpy");
}

/* Fresh words have the number -1, as if a launch had published there; one before them has it, too. */
static void run_numbers(void)
{
    set_number(0xFFFFFFFEu - ONE_HOP_TILES);
    for (int i = 0; i < ONE_HOP_TILES; i++) {
        choose(1, 128 * (size_t)(1 + i % 3), 32);
        run(0, false);
    }
    for (int i = 0; i < 4; i++) { /* the numbers -1, 0, 1, 2 */
        choose(1, 8000, 32);
        run(0, i % 2 == 1);
    }
}

static void run_begun(void)
{
    unsigned number;
    choose(1, 8000, 32);
    run(0, false);
    must(cudaMemcpy(&number, args.workspace, sizeof number, cudaMemcpyDeviceToHost), "cudaMemcpy");
    set_number(number - 1); /* as if the launch had been stopped before its end */
    must(lookback_workspace_init(args.workspace, args.workspace_size, NULL), "lookback_workspace_init");
    run(0, false);
    run(0, true);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"kernels", run_kernels}, {"graph", run_graph}, {"numbers", run_numbers}, {"begun", run_begun}};
    int way = 0;
    while (argc == 2 && way < 4 && strcmp(argv[1], ways[way].name) != 0)
        way++;
    if (argc != 2 || way == 4)
        return 2;
    for (int i = 0; i < MOST; i++)
        host[i] = 1.0f;
    for (int a = 0; a < 5; a++) {
        must(cudaMalloc((void **)&arrays[a], sizeof host), "cudaMalloc");
        must(cudaMemcpy(arrays[a], host, sizeof host, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    args.inputs = args.d_outputs = arrays[0], args.coeffs = arrays[1], args.outputs = arrays[2];
    args.d_inputs = arrays[3], args.d_coeffs = arrays[4];
    for (int k = 0; k < 6; k++) {
        choose(1, MOST, 0);
        const size_t bytes = kernels[k].workspace(&args);
        args.workspace_size = bytes > args.workspace_size ? bytes : args.workspace_size;
    }
    must(cudaMalloc(&args.workspace, args.workspace_size), "cudaMalloc");
    must(lookback_workspace_init(args.workspace, args.workspace_size, NULL), "lookback_workspace_init");
    ways[way].run();
    puts("right");
    return 0;
}
