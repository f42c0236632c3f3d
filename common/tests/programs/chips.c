/* chips.c - what chapter 05's default takes on other chips: the configuration for each compute capability, run on this
 * one. */
#include "../../../05_pipe/pipe.h"
#include "../../harness.h"

static cudaError_t launch_for(int arch, size_t shared_limit, const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_config config = pipe_default_config(args->seq_len, arch, shared_limit);
    if (pipe_shared_bytes(&config, 2) > shared_limit)
        return cudaErrorNotSupported;
    return pipe_launch(&config, args, stream);
}

static cudaError_t sm_75(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_for(75, 63 << 10, args, stream);
}

static cudaError_t sm_80(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_for(80, 162 << 10, args, stream);
}

static cudaError_t sm_86(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_for(86, 98 << 10, args, stream);
}

static cudaError_t sm_90(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_for(90, 226 << 10, args, stream);
}

static cudaError_t sm_120(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_for(120, 98 << 10, args, stream);
}

int main(int argc, char **argv)
{
    int (*const levels)(size_t) = chapter05_kernels[0].levels; /* the algorithm is the same on every chip */
    const struct linrec_kernel kernels[] = {
        {.name = "sm_75", .idea = "for the tests", .forward = sm_75, .levels = levels},
        {.name = "sm_80", .idea = "for the tests", .forward = sm_80, .levels = levels, .min_arch = 80},
        {.name = "sm_86", .idea = "for the tests", .forward = sm_86, .levels = levels, .min_arch = 80},
        {.name = "sm_90",
         .idea = "for the tests",
         .forward = sm_90,
         .levels = levels,
         .min_arch = 90,
         .is_default = true},
        {.name = "sm_120", .idea = "for the tests", .forward = sm_120, .levels = levels, .min_arch = 90},
        {.name = NULL},
    };
    return harness_main(argc, argv, &(const struct linrec_chapter){.name = "chips", .kernels = kernels});
}
