/* SPDX-License-Identifier: MIT */
/* launches.c - each kernel's part of the chip, as the CUDA runtime says: registers, local and shared memory, the
   threads of a block and how many of them an SM holds at once.

   It launches a kernel once in a range that a profiler can pick out (ncu --profile-from-start off), and once into a
   graph, where kernel and launch can be looked up. Options as everywhere; --csv writes the table as CSV.

   Each chapter that compares gets such a program for all kernels that it compares: the makefile defines CHAPTER as
   chapter07, for example. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../harness/arrays.h"
#include "../base/error.h"
#include "../linrec/linrec_operation.h"
#include "../base/output.h"
#include "../harness/selection.h"
#include "../harness/table.h"
#include "../harness/harness.h"

#ifdef CUSIM
int main(void)
{
    return usage_error("this asks the CUDA runtime about a GPU; build with BACKEND=cuda on a machine that has one");
}
#else
#include <cuda_profiler_api.h>

extern const struct chapter CHAPTER;

enum { MAX_NODES = 16 };

/* What a table's rows have in common. */
struct context {
    struct machine machine;
    struct options options;
    struct selection selection;
    FILE *csv; /* NULL: none */
    int num_spilled;
};

/* What is launched: a kernel, or a baseline. */
struct launched {
    const char *name, *chapter, *variant;
    launch_function *launch;
    const void *what;
    bool must_not_spill; /* a chapter's own may be somebody else's, such as CUB's; ptxas.pl looks at all sources */
};

static cudaError_t kernel_of(cudaGraphNode_t node, struct cudaKernelNodeParams *launch)
{
    enum cudaGraphNodeType type;
    cudaError_t error = cudaGraphNodeGetType(node, &type);
    if (error == cudaSuccess && type != cudaGraphNodeTypeKernel)
        return cudaErrorInvalidValue;
    return error != cudaSuccess ? error : cudaGraphKernelNodeGetParams(node, launch);
}

/* One row for each kernel that the launch consists of. */
static cudaError_t print_node(struct context *context, const struct launched *launched, const struct problem *problem,
                              const struct cudaKernelNodeParams *launch)
{
    struct cudaFuncAttributes attributes;
    const int threads = (int)(launch->blockDim.x * launch->blockDim.y * launch->blockDim.z);
    const size_t blocks = (size_t)launch->gridDim.x * launch->gridDim.y * launch->gridDim.z;
    int resident = 0;
    const char *function = "";
    cudaError_t error = cudaFuncGetAttributes(&attributes, launch->func);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->func, threads, launch->sharedMemBytes);
#if CUDART_VERSION >= 12030
    if (error == cudaSuccess && cudaFuncGetName(&function, launch->func) != cudaSuccess)
        function = "";
#endif
    if (error != cudaSuccess)
        return error;
    const char *direction = direction_name(problem->direction);
    const size_t num_seqs = problem->sizes[NUM_SEQS], seq_len = problem->sizes[SEQ_LEN];
    const double occupancy = 100.0 * resident * threads / context->machine.device.maxThreadsPerMultiProcessor;
    printf("%-27s %-16s %8zu %9zu %7d %9d %6zu %7zu %8u %7d %8.0f%s\n", launched->name, direction, seq_len, blocks,
           threads, attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes, launch->sharedMemBytes,
           resident, occupancy, attributes.localSizeBytes != 0 ? "  local memory" : "");
    context->num_spilled += launched->must_not_spill && attributes.localSizeBytes != 0;
    if (context->csv != NULL)
        fprintf(context->csv, "%s,%s,%s,%zu,%zu,%s,%s,%zu,%d,%d,%zu,%zu,%u,%d,%.1f\n", launched->chapter,
                launched->variant, direction, num_seqs, seq_len, context->machine.device.name, function, blocks,
                threads, attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes,
                launch->sharedMemBytes, resident, occupancy);
    return cudaSuccess;
}

static cudaError_t show(struct context *context, const struct launched *launched, const struct problem *problem)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t nodes[MAX_NODES];
    size_t num_nodes = MAX_NODES;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (error == cudaSuccess) /* load the code, set the attributes */
        error = launched->launch(launched->what, problem, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaProfilerStart();
    if (error == cudaSuccess)
        error = launched->launch(launched->what, problem, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    cudaProfilerStop();

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error == cudaSuccess) {
        error = launched->launch(launched->what, problem, stream);
        const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        error = error != cudaSuccess ? error : ended;
    }
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(graph, nodes, &num_nodes);
    for (size_t i = 0; i < num_nodes && error == cudaSuccess; i++) {
        struct cudaKernelNodeParams node;
        if (kernel_of(nodes[i], &node) == cudaSuccess)
            error = print_node(context, launched, problem, &node);
    }
    if (graph != NULL)
        cudaGraphDestroy(graph);
    if (stream != NULL)
        cudaStreamDestroy(stream);
    return error;
}

static bool is_named(const struct context *context, const char *name)
{
    return context->options.variant == NULL || strcmp(context->options.variant, name) == 0;
}

/* Sets the directions that are asked for; --variant may also name a baseline. Returns 0, or 2 after one line on
   stderr. */
static int choose_directions(struct context *context)
{
    struct options *options = &context->options;
    const char *variant = options->variant;
    for (int pass = 0; pass < 2; pass++)
        if (variant != NULL && strcmp(variant, baseline_name(&linrec_operation.add[pass])) == 0)
            options->variant = NULL;
    const int status = selection_check(&context->selection, direction_of(options->backward, options->reverse));
    options->variant = variant;
    return status;
}

/* The baseline that percent_of_add is of, and all wanted kernels on one shape. Returns 0, or 1 after one line on
   stderr. */
static int show_shape(struct context *context, enum direction direction, const size_t sizes[MAX_SIZES])
{
    const struct selection *selection = &context->selection;
    const struct baseline *add = &linrec_operation.add[is_backward(direction)];
    const struct launched baseline = {baseline_name(add), BASELINES, baseline_name(add), baseline_launch, add, false};
    const struct data data = {1, linrec_operation.timed_kind};
    struct arrays arrays;
    bool any = is_named(context, baseline.name);
    for (int k = 0; k < selection->num_kernels; k++)
        any = any || selection_runs(selection, &selection->kernels[k], direction, sizes);
    if (!any)
        return 0;
    cudaError_t error = arrays_create(&arrays, &linrec_operation, sizes, direction, FLOAT32, context->machine.backend);
    if (error == cudaSuccess)
        error = arrays_fill(&arrays, &data);
    if (error == cudaSuccess) /* the launches go to a stream of their own */
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess && is_named(context, baseline.name))
        error = show(context, &baseline, &arrays.problem);
    for (int k = 0; k < selection->num_kernels && error == cudaSuccess; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        const struct launched launched = {kernel->name, kernel->chapter,    kernel->info->name, linrec_operation.launch,
                                          kernel->info, kernel->is_compared};
        if (!selection_runs(selection, kernel, direction, sizes))
            continue;
        error = arrays_take_workspace(&arrays, kernel);
        if (error == cudaSuccess)
            error = show(context, &launched, &arrays.problem);
        arrays_drop_workspace(&arrays);
        if (error != cudaSuccess)
            fprintf(stderr, "FAILED %s\n", kernel->name);
    }
    if (error != cudaSuccess)
        fprintf(stderr, "%zu x %zu: %s\n", sizes[NUM_SEQS], sizes[SEQ_LEN], cudaGetErrorString(error));
    arrays_free(&arrays);
    return error != cudaSuccess;
}

int main(int argc, char **argv)
{
    struct context context = {.csv = NULL};
    struct options *options = &context.options;
    struct output output;

    output_watch_stdout();
    int status = options_read(argc, argv, CHAPTER.name, &linrec_operation, options);
    if (status >= 0)
        return status;
    status = selection_collect(&context.selection, &CHAPTER, options, &context.machine);
    if (status == 0)
        status = machine_find(false, &context.machine);
    if (status == 0)
        status = choose_directions(&context);
    if (status != 0)
        return status;
    const struct cudaDeviceProp *device = &context.machine.device;
    size_t sizes[MAX_SIZES] = {[NUM_SEQS] = options->size_given[NUM_SEQS] ? options->sizes[NUM_SEQS]
                                                                          : 100 * (size_t)device->multiProcessorCount};
    if (options->num_list == 0) {
        const size_t lengths[] = {64, 1024, 16384};
        memcpy(options->list, lengths, sizeof lengths);
        options->num_list = 3;
    }
    if (options->csv != NULL && (status = output_open(&output, options->csv)) != 0)
        return status;
    if (options->csv != NULL) {
        context.csv = output.file;
        csv_write_head(context.csv, &context.machine, options->command,
                       "chapter,variant,direction,num_seqs,seq_len,device,kernel,blocks,threads,registers,local_bytes,"
                       "shared_bytes,dynamic_shared_bytes,blocks_per_sm,occupancy_percent");
    }
    printf("%s, %zu sequences\n\n%-27s %-16s %8s %9s %7s %9s %6s %7s %8s %7s %8s\n", device->name, sizes[NUM_SEQS],
           "kernel", "direction", "seq_len", "blocks", "threads", "registers", "local", "shared", "dynamic", "per SM",
           "% of max");
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        for (int i = 0; i < options->num_list && status == 0; i++) {
            sizes[SEQ_LEN] = options->list[i];
            if (context.selection.directions[d] && sizes[NUM_SEQS] != 0 && sizes[SEQ_LEN] != 0)
                status = show_shape(&context, d, sizes);
        }
    printf("\nshared, dynamic: bytes of a block; per SM: blocks that an SM holds at once; %% of max: their threads, of "
           "%d\n",
           device->maxThreadsPerMultiProcessor);
    if (options->csv != NULL && status == 0)
        status = output_commit(&output);
    else if (options->csv != NULL)
        output_discard(&output);
    if (context.num_spilled != 0)
        printf("%d launches use local memory: registers were spilled\n", context.num_spilled);
    return status != 0 ? status : context.num_spilled != 0;
}
#endif
