/* SPDX-License-Identifier: MIT */
/* beside.c - launches of chapter 08 as another program makes them, beside other launches and other errors:

       beside streams  KERNEL PASS NUM_SEQS SEQ_LEN    in two streams, several times, without waiting in between
       beside error    KERNEL PASS NUM_SEQS SEQ_LEN    after an error of somebody else's, and then after none
       beside without  KERNEL PASS NUM_SEQS SEQ_LEN    with no more workspace than linrec_workspace says
       beside fill=N   KERNEL PASS NUM_SEQS SEQ_LEN    in a workspace whose bytes are N
       beside stale=N  KERNEL PASS NUM_SEQS SEQ_LEN    in one whose word N of 8 bytes is not as it was
       beside refused=E,N  KERNEL PASS NUM_SEQS SEQ_LEN  where the simulator refuses the first N launches with error E

   Each says in one line what came out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lookback.h"

#ifdef CUSIM
#include "../../../cusim/counts.h"
#else
static bool sim_refuse_launches(int number, int count, cudaError_t error)
{
    return number < 0 && count == 0 && error == cudaSuccess; /* a GPU refuses nothing at will */
}
#endif

static const struct {
    const char *name;
    linrec_launcher *forward, *backward;
    size_t (*workspace)(const struct linrec_args *args);
} kernels[] = {
    {"default", linrec_forward, linrec_backward, linrec_workspace},
    {"resident", lookback_resident, lookback_resident_backward, lookback_resident_workspace},
    {"one_hop", lookback_one_hop, lookback_one_hop_backward, lookback_one_hop_workspace},
    {"persistent_cluster", lookback_persistent_cluster, lookback_persistent_cluster_backward,
     lookback_persistent_cluster_workspace},
    {"lookback", lookback_one_pass, NULL, lookback_workspace},
    {"chained", lookback_chained, NULL, lookback_workspace},
    {"grid_sync", lookback_grid_sync, NULL, lookback_three_pass_workspace},
};

/* A sequence's sums: all coefficients are 1, as are all inputs, or all d_outputs. Results are whole numbers. */
struct sums {
    linrec_launcher *launch;
    bool backward;
    size_t elems;
    struct linrec_args args;
    cudaStream_t stream;
};

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorName(error));
    exit(1);
}

static void make_sums(struct sums *problem, int kernel, bool backward, size_t num_seqs, size_t seq_len)
{
    struct linrec_args *const args = &problem->args;
    float *arrays[5], *ones;
    memset(problem, 0, sizeof *problem);
    problem->launch = backward ? kernels[kernel].backward : kernels[kernel].forward;
    problem->backward = backward;
    problem->elems = num_seqs * seq_len;
    args->num_seqs = num_seqs, args->seq_len = seq_len;
    args->workspace_size = kernels[kernel].workspace(args);
    if ((ones = malloc(problem->elems * sizeof *ones)) == NULL)
        must(cudaErrorMemoryAllocation, "malloc");
    for (size_t i = 0; i < problem->elems; i++)
        ones[i] = 1.0f;
    for (int a = 0; a < 5; a++) {
        must(cudaMalloc((void **)&arrays[a], problem->elems * sizeof(float)), "cudaMalloc");
        must(cudaMemcpy(arrays[a], ones, problem->elems * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    free(ones);
    args->inputs = args->d_outputs = arrays[0], args->coeffs = arrays[1], args->outputs = arrays[2];
    args->d_inputs = arrays[3], args->d_coeffs = arrays[4];
    must(cudaStreamCreateWithFlags(&problem->stream, cudaStreamNonBlocking), "a stream");
    if (args->workspace_size != 0) {
        must(cudaMalloc(&args->workspace, args->workspace_size), "cudaMalloc");
        must(lookback_workspace_init(args->workspace, args->workspace_size, problem->stream),
             "lookback_workspace_init");
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* Whether the sums are right. What is there is wiped out afterwards. */
static bool is_right(const struct sums *problem)
{
    float *const result = problem->backward ? problem->args.d_inputs : problem->args.outputs;
    const size_t seq_len = problem->args.seq_len, bytes = problem->elems * sizeof(float);
    float *const host = malloc(bytes);
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); /* a copy waits for no stream made like this one */
    bool right = host != NULL && cudaMemcpy(host, result, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (size_t i = 0; i < problem->elems && right; i++)
        right = host[i] == (float)(problem->backward ? seq_len - i % seq_len : i % seq_len + 1);
    must(cudaMemset(result, 0, bytes), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); /* nor does such a stream wait for that */
    free(host);
    return right;
}

int main(int argc, char **argv)
{
    enum { TIMES = 5 };
    struct sums problems[2];
    int kernel = 0;
    const int count = (int)(sizeof kernels / sizeof kernels[0]);
    while (argc == 6 && kernel < count && strcmp(argv[2], kernels[kernel].name) != 0)
        kernel++;
    if (argc != 6 || kernel == count)
        return 2;
    for (int p = 0; p < 2; p++)
        make_sums(&problems[p], kernel, strcmp(argv[3], "backward") == 0, strtoull(argv[4], NULL, 10),
                  strtoull(argv[5], NULL, 10));
    struct sums *const first = &problems[0];

    if (strcmp(argv[1], "streams") == 0) {
        for (int i = 0; i < TIMES; i++)
            for (int p = 0; p < 2; p++)
                must(problems[p].launch(&problems[p].args, problems[p].stream), "the launch");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        puts(is_right(&problems[0]) && is_right(&problems[1]) ? "right" : "wrong");
    } else if (strcmp(argv[1], "error") == 0) {
        const cudaError_t of_another = cudaSetDevice(1 << 20);
        const cudaError_t returned = first->launch(&first->args, first->stream);
        const bool is_kept = of_another != cudaSuccess && cudaGetLastError() == of_another;
        const cudaError_t again = first->launch(&first->args, first->stream);
        printf("%s, the error is %s; %s, %s is left, %s\n", cudaGetErrorName(returned), is_kept ? "kept" : "lost",
               cudaGetErrorName(again), cudaGetErrorName(cudaGetLastError()), is_right(first) ? "right" : "wrong");
    } else if (strcmp(argv[1], "without") == 0) {
        printf("%zu bytes, ", first->args.workspace_size);
        const cudaError_t enough = first->launch(&first->args, first->stream);
        const bool right = is_right(first);
        first->args.workspace_size -= first->args.workspace_size != 0;
        const cudaError_t less = first->launch(&first->args, first->stream);
        printf("%s, %s, with a byte less %s\n", cudaGetErrorName(enough), right ? "right" : "wrong",
               cudaGetErrorName(less));
        cudaDeviceSynchronize();
    } else if (strncmp(argv[1], "fill=", 5) == 0) {
        must(cudaMemset(first->args.workspace, atoi(argv[1] + 5), first->args.workspace_size), "cudaMemset");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        cudaError_t error = first->launch(&first->args, first->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(first->stream);
        printf("%s\n", cudaGetErrorName(error));
    } else if (strncmp(argv[1], "stale=", 6) == 0) {
        const size_t word = strtoull(argv[1] + 6, NULL, 10);
        must(cudaMemset((char *)first->args.workspace + 8 * word, 0, 8), "cudaMemset");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        cudaError_t error = first->launch(&first->args, first->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(first->stream);
        printf("%s\n", cudaGetErrorName(error));
    } else if (strncmp(argv[1], "refused=", 8) == 0) {
        char *end;
        const cudaError_t refusal = (cudaError_t)strtol(argv[1] + 8, &end, 10);
        sim_refuse_launches(0, atoi(end + 1), refusal);
        const cudaError_t error = first->launch(&first->args, first->stream);
        const bool was_refused = !sim_refuse_launches(-1, 0, cudaSuccess);
        printf("%s, %s is left, %s%s\n", cudaGetErrorName(error), cudaGetErrorName(cudaGetLastError()),
               is_right(first) ? "right" : "wrong", was_refused ? "" : ", and no launch was refused");
    } else {
        return 2;
    }
    return 0;
}
