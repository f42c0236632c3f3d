/* launches.c - what each kernel takes of the chip, as the CUDA runtime says: registers, local and shared memory, the
   threads of a block and how many of them an SM holds at once.

   It launches a kernel once in a range that a profiler can pick out (ncu --profile-from-start off), and once into a
   graph, where kernel and launch can be looked up. Options as everywhere; --csv writes the table as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/arrays.h"
#include "../../common/device.h"
#include "../../common/error.h"
#include "../../common/options.h"
#include "../../common/output.h"
#include "../bench.h"

#ifdef LINREC_SIM
int main(void)
{
    return usage_error("this asks the CUDA runtime about a GPU; build with BACKEND=cuda on a machine that has one");
}
#else
#include <cuda_profiler_api.h>

enum { MAX_KERNELS = 256, MAX_NODES = 16 };

/* What a table's rows have in common. */
struct context {
    struct cudaDeviceProp device;
    struct options options;
    FILE *csv; /* NULL: none */
    int num_spilled;
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
static cudaError_t print_node(struct context *context, const struct linrec_kernel *kernel, const char *direction,
                              const struct linrec_args *args, const struct cudaKernelNodeParams *launch)
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
    const char *slash = strchr(kernel->name, '/');
    const double occupancy = 100.0 * resident * threads / context->device.maxThreadsPerMultiProcessor;
    printf("%-27s %-16s %8zu %9zu %7d %9d %6zu %7zu %8u %7d %8.0f%s\n", kernel->name, direction, args->seq_len, blocks,
           threads, attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes, launch->sharedMemBytes,
           resident, occupancy, attributes.localSizeBytes != 0 ? "  local memory" : "");
    context->num_spilled += kernel->chapter != NULL && attributes.localSizeBytes != 0;
    if (context->csv != NULL)
        fprintf(context->csv, "%s,%s,%s,%zu,%zu,%s,%s,%zu,%d,%d,%zu,%zu,%u,%d,%.1f\n",
                kernel->chapter != NULL ? kernel->chapter : "07_bench", slash != NULL ? slash + 1 : kernel->name,
                direction, args->num_seqs, args->seq_len, context->device.name, function, blocks, threads,
                attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes, launch->sharedMemBytes,
                resident, occupancy);
    return cudaSuccess;
}

static cudaError_t show(struct context *context, const struct linrec_kernel *kernel, struct arrays *arrays)
{
    struct linrec_args args = arrays->args;
    linrec_launcher *launch = arrays->backward ? kernel->backward : kernel->forward;
    const char *direction = direction_name(arrays->backward, args.reverse);
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t nodes[MAX_NODES];
    size_t num_nodes = MAX_NODES;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (error == cudaSuccess && kernel->workspace_size != NULL &&
        (args.workspace_size = kernel->workspace_size(&args)) != 0)
        error = cudaMalloc(&args.workspace, args.workspace_size);
    if (error == cudaSuccess) /* load the code, set the attributes */
        error = launch(&args, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaProfilerStart();
    if (error == cudaSuccess)
        error = launch(&args, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    cudaProfilerStop();

    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error == cudaSuccess) {
        error = launch(&args, stream);
        const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        error = error != cudaSuccess ? error : ended;
    }
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(graph, nodes, &num_nodes);
    for (size_t i = 0; i < num_nodes && error == cudaSuccess; i++) {
        struct cudaKernelNodeParams node;
        if (kernel_of(nodes[i], &node) == cudaSuccess)
            error = print_node(context, kernel, direction, &args, &node);
    }
    if (graph != NULL)
        cudaGraphDestroy(graph);
    if (args.workspace != NULL)
        cudaFree(args.workspace);
    if (stream != NULL)
        cudaStreamDestroy(stream);
    return error;
}

static bool is_wanted(const struct context *context, const struct linrec_kernel *kernel, bool backward, bool reverse,
                      size_t num_seqs, size_t seq_len)
{
    const struct options *options = &context->options;
    const int chip = context->device.major * 10 + context->device.minor;
    const bool narrowed = options->forward || options->reverse || options->backward;
    return (options->variant == NULL || strcmp(options->variant, kernel->name) == 0) &&
           (!narrowed || (options->backward == backward && options->reverse == reverse)) &&
           (backward ? kernel->backward : kernel->forward) != NULL && (!reverse || kernel->reverse) &&
           kernel->min_arch <= (chip < LINREC_ARCH ? chip : LINREC_ARCH) &&
           (kernel->max_seq_len == 0 || seq_len <= kernel->max_seq_len) &&
           (kernel->max_num_seqs == 0 || num_seqs <= kernel->max_num_seqs) &&
           (kernel->max_elems == 0 || seq_len <= kernel->max_elems / num_seqs);
}

/* All wanted kernels on one shape. Returns 0, or 1 after one line on stderr. */
static int show_shape(struct context *context, const struct linrec_kernel *kernels, bool backward, bool reverse,
                      size_t num_seqs, size_t seq_len)
{
    struct arrays arrays;
    const struct data_spec spec = {1, DATA_UNIFORM, seq_len, reverse, 0};
    int status = 0;
    bool any = false;
    for (const struct linrec_kernel *kernel = kernels; kernel->name != NULL; kernel++)
        any = any || is_wanted(context, kernel, backward, reverse, num_seqs, seq_len);
    if (!any)
        return 0;
    cudaError_t error = arrays_create(&arrays, num_seqs, seq_len, backward);
    if (error == cudaSuccess)
        error = arrays_fill(&arrays, &spec);
    if (error == cudaSuccess) /* the launches go to a stream of their own */
        error = cudaDeviceSynchronize();
    for (const struct linrec_kernel *kernel = kernels; kernel->name != NULL && error == cudaSuccess; kernel++)
        if (is_wanted(context, kernel, backward, reverse, num_seqs, seq_len)) {
            error = show(context, kernel, &arrays);
            if (error != cudaSuccess)
                fprintf(stderr, "FAILED %s\n", kernel->name);
        }
    if (error != cudaSuccess) {
        fprintf(stderr, "%zu x %zu: %s\n", num_seqs, seq_len, cudaGetErrorString(error));
        status = 1;
    }
    arrays_free(&arrays);
    return status;
}

static void print_head(FILE *csv, int argc, char **argv)
{
    const time_t now = time(NULL);
    char date[32];
    int toolkit = 0, driver = 0;
    cudaRuntimeGetVersion(&toolkit);
    cudaDriverGetVersion(&driver);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(csv, "# command:");
    for (int i = 0; i < argc; i++)
        fprintf(csv, " %s", argv[i]);
    fprintf(csv, "\n# date: %s\n# toolkit: CUDA %d.%d\n# driver: CUDA %d.%d\n", date, toolkit / 1000,
            toolkit % 1000 / 10, driver / 1000, driver % 1000 / 10);
}

int main(int argc, char **argv)
{
    struct linrec_kernel kernels[MAX_KERNELS] = {{.name = "add", .forward = baseline_add},
                                                 {.name = "add5", .backward = baseline_add5}};
    const struct linrec_chapter chapter = {.name = "07_bench", .kernels = kernels, .compares = true};
    struct context context = {.csv = NULL};
    struct options *options = &context.options;
    struct output output;
    int count = 2;

    output_watch_stdout();
    for (const struct linrec_kernel *kernel = bench_kernels(); kernel->name != NULL && count < MAX_KERNELS - 1;
         kernel++)
        kernels[count++] = *kernel;
    int status = options_read(argc, argv, &chapter, options);
    if (status >= 0)
        return status;
    if (cudaGetDeviceProperties(&context.device, 0) != cudaSuccess)
        return usage_error("no GPU answers; this asks the CUDA runtime about one");
    const size_t num_seqs =
        options->num_seqs_given ? options->num_seqs : 100 * (size_t)context.device.multiProcessorCount;
    if (options->num_seq_lens == 0) {
        const size_t lengths[] = {64, 1024, 16384};
        memcpy(options->seq_lens, lengths, sizeof lengths);
        options->num_seq_lens = 3;
    }
    if (options->csv != NULL && (status = output_open(&output, options->csv)) != 0)
        return status;
    context.csv = options->csv != NULL ? output.file : NULL;
    if (context.csv != NULL)
        print_head(context.csv, argc, argv);
    if (context.csv != NULL)
        fprintf(context.csv, "chapter,variant,direction,num_seqs,seq_len,device,kernel,blocks,threads,registers,"
                             "local_bytes,shared_bytes,dynamic_shared_bytes,blocks_per_sm,occupancy_percent\n");
    printf("%s, %zu sequences\n\n%-27s %-16s %8s %9s %7s %9s %6s %7s %8s %7s %8s\n", context.device.name, num_seqs,
           "kernel", "direction", "seq_len", "blocks", "threads", "registers", "local", "shared", "dynamic", "per SM",
           "% of max");
    status = 0;
    for (int i = 0; i < 4 * options->num_seq_lens && status == 0; i++) {
        const int direction = i / options->num_seq_lens;
        const size_t seq_len = options->seq_lens[i % options->num_seq_lens];
        if (num_seqs != 0 && seq_len != 0)
            status = show_shape(&context, kernels, direction / 2 == 1, direction % 2 == 1, num_seqs, seq_len);
    }
    printf("\nshared, dynamic: bytes of a block; per SM: blocks that an SM holds at once; %% of max: their threads, of "
           "%d\n",
           context.device.maxThreadsPerMultiProcessor);
    if (options->csv != NULL && status == 0)
        status = output_commit(&output);
    else if (options->csv != NULL)
        output_discard(&output);
    if (context.num_spilled != 0)
        printf("%d launches use local memory: registers were spilled\n", context.num_spilled);
    return status != 0 ? status : context.num_spilled != 0;
}
#endif
