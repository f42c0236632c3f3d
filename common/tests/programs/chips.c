/* chips.c - what the defaults of chapters 05 and 06 take on other chips: the configuration for each compute capability,
 * run on this one. */
#include "../../../06_backward/backward.h"
#include "../../harness.h"

static cudaError_t launch_for(bool backward, int arch, size_t shared_limit, const struct linrec_args *args,
                              cudaStream_t stream)
{
    const struct pipe_config config = backward ? backward_default_config(args->seq_len, arch, shared_limit)
                                               : pipe_default_config(args->seq_len, arch, shared_limit);
    if (pipe_shared_bytes(&config, backward ? 3 : 2) > shared_limit)
        return cudaErrorNotSupported;
    return backward ? backward_launch(&config, args, stream) : pipe_launch(&config, args, stream);
}

/* Compute capability, and the KB of shared memory that a block may have there. */
#define CHIPS(X) X(75, 63) X(80, 162) X(86, 98) X(90, 226) X(120, 98)
#define LAUNCHERS(arch, kilobytes)                                                                                     \
    static cudaError_t forward_##arch(const struct linrec_args *args, cudaStream_t stream)                             \
    {                                                                                                                  \
        return launch_for(false, arch, kilobytes << 10, args, stream);                                                 \
    }                                                                                                                  \
    static cudaError_t backward_##arch(const struct linrec_args *args, cudaStream_t stream)                            \
    {                                                                                                                  \
        return launch_for(true, arch, kilobytes << 10, args, stream);                                                  \
    }
CHIPS(LAUNCHERS)

int main(int argc, char **argv)
{
    int (*const levels_of)(size_t) = chapter06_kernels[0].levels; /* the algorithm is the same on every chip */
#define KERNEL(arch, kilobytes)                                                                                        \
    {.name = "sm_" #arch,                                                                                              \
     .idea = "for the tests",                                                                                          \
     .forward = forward_##arch,                                                                                        \
     .backward = backward_##arch,                                                                                      \
     .reverse = true,                                                                                                  \
     .levels = levels_of,                                                                                              \
     .min_arch = arch < 80   ? 0                                                                                       \
                 : arch < 90 ? 80                                                                                      \
                             : 90,                                                                                     \
     .is_default = arch == 90},
    const struct linrec_kernel kernels[] = {CHIPS(KERNEL){.name = NULL}};
    return harness_main(argc, argv, &(const struct linrec_chapter){.name = "chips", .kernels = kernels});
}
