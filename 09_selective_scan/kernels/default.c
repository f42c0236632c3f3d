/* SPDX-License-Identifier: MIT */
/* default.c - the kernel that each shape gets on each chip. */
#include "../../common/cuda/gpu_info.h"
#include "checkpoints.h"
#include "grid.h"
#include "selective_check.h"

/* The most blocks for each multiprocessor with which warp_specialized is faster than fused_steps. It has one block of
   16 channels on a multiprocessor at a time, so it takes as long as it has rounds of them. Measured on an H200 with 16
   states, float32, 2048 channels and 8192 steps, it takes 0.38, 0.71, 0.79 and 1.02 of fused_steps' time with a batch
   of 1, 2, 3 and 4, which are 0.97, 1.9, 2.9 and 3.9 blocks for a multiprocessor; in bf16 0.44, 0.85, 0.87 and 1.15. So
   the border is at 3. With up to 8 states in float32 it is at 5 (0.86 to 0.89 with a batch of 5, 1.01 to 1.02 with 6).
   With 32 states warp_specialized takes as long with a batch of 2, and 1.03 of the time with 3: the border is at 2. */
static size_t most_blocks(const struct selective_args *args)
{
    return args->states <= 8 && args->dtype == FLOAT32 ? 5 : args->states <= 16 ? 3 : 2;
}

/* What only steps takes. */
static bool is_for_steps(const struct selective_args *args)
{
    return args->states > FUSED_STEPS_STATES || args->seq_len > SELECTIVE_INT_STEPS;
}

/* With few warps a multiprocessor waits most of the time. Two kernels are made for that: warp_specialized, and
   state_passing for older chips. state_passing takes two thirds of fused_steps' time with 1.9 of its warps for a
   multiprocessor, and a fifth more than its time with 3.9. */
cudaError_t selective_forward(const struct selective_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    const cudaError_t error = selective_check_packed(args, false, 0);
    if (error != cudaSuccess || selective_is_empty(args) || is_for_steps(args))
        return selective_steps_forward(args, stream);
    if (args->starts != NULL) /* the others take none */
        return selective_fused_steps_forward(args, stream);
    const cudaError_t read = gpu_info_read(&gpu);
    if (read != cudaSuccess)
        return read;
    const size_t multiprocessors = (size_t)gpu.multiprocessors;
    const size_t warps = selective_fused_steps_blocks(args) * selective_fused_steps_warps(args);
    bool specialized = gpu.arch >= 90 && selective_warp_specialized_fits(args);
    if (specialized && selective_warp_specialized_blocks(args) <= most_blocks(args) * multiprocessors) {
        const cudaError_t launched = selective_warp_specialized_forward(args, stream);
        if (launched != cudaErrorNotSupported)
            return launched;
        specialized =
            false; /* sm_120 has the instructions, but a block gets 99 KB, and this one's tiles take 117 or more */
    }
    if (gpu.arch >= 80 && selective_state_passing_fits(args) && !specialized && warps < 3 * multiprocessors)
        return selective_state_passing_forward(args, stream);
    return selective_fused_steps_forward(args, stream);
}

/* Whether checkpoints runs here. Up to 8 states its blocks take 106 KB in 16 bits and 137 in float32; sm_86, sm_89 and
   sm_120 have 99. */
static bool takes_checkpoints(const struct selective_args *args, const struct gpu_info *gpu)
{
    return gpu->arch >= 80 && selective_checkpoints_fit(args) && (args->states > 8 || gpu->shared_limit >= 137 << 10);
}

struct way {
    selective_launcher *launch;
    size_t (*needs)(const struct selective_args *args, bool backward); /* bytes of workspace */
};

/* fused_backward needs about 100 KB of shared memory for a block, which older chips have for one of them only. Measured
   on an H200 with 16 states, float32 and 2048 channels: state_passing takes 1.2 times as long for 8 x 8192 steps, 1.1
   times for 1 x 65536, and within a few percent as long for 1 x 1024 to 9 x 2048. Neither takes more than 32 states.
   Then checkpoints is 7 to 30 times as fast as steps: 3.9 and 27 ms for 8 x 1024 steps with 33 states, 2.3 and 32 for
   1 x 1024 with 64, 8.7 and 264 for 2 x 8192 with 64. */
static struct way fastest_backward(const struct selective_args *args, const struct gpu_info *gpu)
{
    if (gpu->arch >= 90 && selective_fused_fits(args) && args->states > 8)
        return (struct way){selective_fused_backward, selective_fused_workspace};
    if (gpu->arch >= 80 && selective_state_passing_fits(args))
        return (struct way){selective_state_passing_backward, selective_state_passing_workspace};
    if (takes_checkpoints(args, gpu))
        return (struct way){selective_checkpoints_backward, selective_checkpoints_workspace};
    return (struct way){selective_steps_backward, selective_steps_workspace};
}

/* Where there is no room for the fastest one, the one that needs little. */
cudaError_t selective_backward(const struct selective_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    const cudaError_t error = selective_check_packed(args, true, 0);
    if (error != cudaSuccess || selective_is_empty(args) || args->starts != NULL) /* only steps takes these */
        return selective_steps_backward(args, stream);
    const cudaError_t read = gpu_info_read(&gpu);
    if (read != cudaSuccess)
        return read;
    const struct way fastest = fastest_backward(args, &gpu);
    if (args->workspace_size < fastest.needs(args, true) && takes_checkpoints(args, &gpu))
        return selective_checkpoints_backward(args, stream);
    return fastest.launch(args, stream);
}

size_t selective_default_workspace(const struct selective_args *args, bool backward)
{
    struct gpu_info gpu;
    if (!backward)
        return is_for_steps(args) ? selective_steps_workspace(args, false) : 0;
    if (args->num_seqs != 0)
        return selective_steps_workspace(args, true);
    if (selective_is_empty(args) || gpu_info_read(&gpu) != cudaSuccess)
        return 0;
    return fastest_backward(args, &gpu).needs(args, true);
}

size_t selective_least_workspace(const struct selective_args *args, bool backward)
{
    struct gpu_info gpu;
    const size_t fastest = selective_default_workspace(args, backward);
    if (!backward || args->num_seqs != 0 || selective_is_empty(args) || gpu_info_read(&gpu) != cudaSuccess ||
        !takes_checkpoints(args, &gpu))
        return fastest;
    const size_t little = selective_checkpoints_workspace(args, true);
    return little < fastest ? little : fastest;
}
