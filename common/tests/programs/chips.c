/* SPDX-License-Identifier: MIT */
/* chips.c - runs here what the defaults of chapters 05 and 06 choose on other chips. A choice that the other
   chip could not run is an error. */
#include <string.h>

#include "../../../06_backward/default.h"
#include "../../harness/harness.h"
#include "../../linrec/linrec_operation.h"

static const struct linrec_kernel *find(const struct linrec_kernel *table, const char *name)
{
    while (table->info.name != NULL && strcmp(table->info.name, name) != 0)
        table++;
    return table->info.name != NULL ? table : NULL;
}

/* Whether the other chip has what the kernel needs: its copies,
   and shared memory for all stages of `arrays` arrays. */
static bool runs_there(const struct linrec_kernel *kernel, const struct launch_config *config, int arrays,
                       const struct gpu_info *gpu)
{
    const size_t stage = (size_t)arrays * config->threads * config->rows * 4 * sizeof(float);
    return kernel->info.min_arch <= gpu->arch && (kernel->info.tunable.max_stages == 0 ||
                                                  (config->stages > 0 && config->stages * stage <= gpu->shared_limit));
}

static cudaError_t launch_for(bool backward, const struct gpu_info *gpu, const struct linrec_args *args,
                              cudaStream_t stream)
{
    const struct pipe_choice choice = backward ? backward_choose(args->seq_len, gpu) : pipe_choose(args->seq_len, gpu);
    const bool of_06 = backward || args->reverse;
    const struct linrec_kernel *const kernel = find(of_06 ? chapter06_kernels : chapter05_kernels, choice.variant);
    struct linrec_args chosen = *args;

    if (linrec_has_states(args)) /* chapter 06's kernels take them, but not all of these */
        return cudaErrorInvalidValue;
    if (kernel == NULL || !runs_there(kernel, &choice.config, backward ? 3 : 2, gpu))
        return cudaErrorLaunchFailure;
    chosen.config = choice.config;
    return (backward ? kernel->backward : kernel->forward)(&chosen, stream);
}

/* Compute capability, and the KB of shared memory that a block may have there. */
#define CHIPS(X) X(75, 63) X(80, 162) X(86, 98) X(90, 226) X(120, 98)
#define LAUNCHERS(arch_, kilobytes)                                                                                    \
    static cudaError_t forward_##arch_(const struct linrec_args *args, cudaStream_t stream)                            \
    {                                                                                                                  \
        return launch_for(                                                                                             \
            false, &(const struct gpu_info){.arch = arch_, .shared_limit = kilobytes << 10, .multiprocessors = 132},   \
            args, stream);                                                                                             \
    }                                                                                                                  \
    static cudaError_t backward_##arch_(const struct linrec_args *args, cudaStream_t stream)                           \
    {                                                                                                                  \
        return launch_for(                                                                                             \
            true, &(const struct gpu_info){.arch = arch_, .shared_limit = kilobytes << 10, .multiprocessors = 132},    \
            args, stream);                                                                                             \
    }
CHIPS(LAUNCHERS)

int main(int argc, char **argv)
{
    int (*const levels_of)(size_t) = chapter06_kernels[0].levels; /* the algorithm is the same on every chip */
#define KERNEL(arch, kilobytes)                                                                                        \
    {.info.name = "sm_" #arch,                                                                                         \
     .info.idea = "for the tests",                                                                                     \
     .forward = forward_##arch,                                                                                        \
     .backward = backward_##arch,                                                                                      \
     .reverse = true,                                                                                                  \
     .levels = levels_of,                                                                                              \
     .info.min_arch = arch < 80   ? 0                                                                                  \
                      : arch < 90 ? 80                                                                                 \
                                  : 90,                                                                                \
     .info.is_default = arch == 90},
    const struct linrec_kernel kernels[] = {CHIPS(KERNEL){.info.name = NULL}};
    const struct chapter chapter = {.name = "chips", .operation = &linrec_operation, .kernels = kernels};
    return harness_main(argc, argv, &chapter);
}
