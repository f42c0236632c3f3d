/* SPDX-License-Identifier: MIT */
/* launch_config.cu - kernels whose launch shows what --config gave: `rows` blocks a sequence, of which one works,
   blocks of `threads` threads, of which one works, and `stages` barriers. */
#include <cuda_runtime.h>

#include "../../harness/harness.h"
#include "../../linrec/linrec_operation.h"

static __global__ void loop(int rows, int stages, size_t seq_len, const float *inputs, const float *coeffs,
                            float *outputs)
{
    const size_t row = blockIdx.x / rows * seq_len;
    float y = 0.0f;
    for (int stage = 0; stage < stages; stage++)
        __syncthreads();
    if (blockIdx.x % rows == 0 && threadIdx.x == 0)
        for (size_t l = 0; l < seq_len; l++)
            outputs[row + l] = y = l == 0 ? inputs[row] : y * coeffs[row + l] + inputs[row + l];
}

/* Takes up to max_threads threads, but no more than `most` of them times the stages. */
static cudaError_t launch(const struct linrec_args *args, int max_threads, int most, cudaStream_t stream)
{
    const struct launch_config *config = &args->config;
    const int rows = config->rows != 0 ? config->rows : 1, threads = config->threads != 0 ? config->threads : 32;
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->reverse || (rows != 1 && rows != 2 && rows != 4) || threads < 32 || threads % 32 != 0 ||
        threads > max_threads || config->stages < 0 || config->stages > 4)
        return cudaErrorInvalidValue;
    if (threads * config->stages > most)
        return cudaErrorNotSupported;
    loop<<<(unsigned)args->num_seqs * rows, threads, 0, stream>>>(rows, config->stages, args->seq_len, args->inputs,
                                                                  args->coeffs, args->outputs);
    return cudaGetLastError();
}

static cudaError_t forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch(args, 512, 1024, stream); /* refuses many threads with many stages */
}

static cudaError_t roomy(const struct linrec_args *args, cudaStream_t stream)
{
    return launch(args, 512, 2048, stream);
}

static cudaError_t wide(const struct linrec_args *args, cudaStream_t stream)
{
    return launch(args, 1024, 1024, stream);
}

static struct linrec_kernel row(const char *name)
{
    struct linrec_kernel kernel = {};
    kernel.info.name = name;
    kernel.info.idea = "for the tests";
    kernel.forward = forward;
    return kernel;
}

int main(int argc, char **argv)
{
    struct linrec_kernel kernels[] = {row("all"), row("threads"), row("roomy"), row("none"), row(NULL)};
    kernels[0].info.tunable.rows[0] = 1;
    kernels[0].info.tunable.rows[1] = 2;
    kernels[0].info.tunable.rows[2] = 4;
    kernels[0].info.tunable.max_threads = 512;
    kernels[0].info.tunable.max_stages = 4;
    kernels[1].forward = wide;
    kernels[1].info.tunable.max_threads = 1024;
    kernels[2].forward = roomy;
    kernels[2].info.tunable.max_threads = 512;
    kernels[2].info.tunable.max_stages = 4;
    kernels[3].info.is_default = true;
    struct chapter chapter = {};
    chapter.operation = &linrec_operation;
    chapter.name = "launch_config";
    chapter.kernels = kernels;
    return harness_main(argc, argv, &chapter);
}
