/* default.c - which kernel for which shape and chip. */
#include "../05_pipe/pipe.h"
#include "selective_scan.h"

/* With few warps a multiprocessor waits most of the time, and relay, which makes eight of each, is faster. Measured on
   an H200 with 16 states, float32, 8192 steps: with 1.9 warps of fused_steps a multiprocessor relay takes two thirds of
   its time, with 3.9 of them a fifth more. So the border is at 3. */
cudaError_t selective_forward(const struct selective_args *args, cudaStream_t stream)
{
    struct pipe_chip chip;
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess || selective_is_empty(args) || args->states > FUSED_STEPS_STATES ||
        args->seq_len > SELECTIVE_INT_STEPS)
        return selective_steps_forward(args, stream);
    const cudaError_t read = pipe_read_chip(&chip);
    if (read != cudaSuccess)
        return read;
    if (chip.arch >= 80 && selective_relay_fits(args) &&
        selective_fused_steps_blocks(args) * selective_fused_steps_warps(args) < 3 * (size_t)chip.multiprocessors)
        return selective_relay_forward(args, stream);
    return selective_fused_steps_forward(args, stream);
}

/* fused_backward needs about 100 KB of shared memory for a block, which older chips have for one of them only. Measured
   on an H200 with 16 states, float32 and 2048 channels: relay takes 1.2 times as long for 8 x 8192 steps, 1.1 times for
   1 x 65536, and within a few percent as long for 1 x 1024 to 9 x 2048. */
cudaError_t selective_backward(const struct selective_args *args, cudaStream_t stream)
{
    struct pipe_chip chip;
    const cudaError_t error = selective_check_args(args, true, 0);
    if (error != cudaSuccess || selective_is_empty(args))
        return selective_steps_backward(args, stream);
    const cudaError_t read = pipe_read_chip(&chip);
    if (read != cudaSuccess)
        return read;
    if (chip.arch >= 90 && selective_fused_fits(args) && args->states > 8)
        return selective_fused_backward(args, stream);
    return chip.arch >= 80 && selective_relay_fits(args) ? selective_relay_backward(args, stream)
                                                         : selective_steps_backward(args, stream);
}

/* Enough for all, since the chip is not known yet. */
size_t selective_default_workspace(const struct selective_args *args, bool backward)
{
    const size_t relay = selective_relay_fits(args) ? selective_relay_workspace(args, backward) : 0;
    const size_t fused = selective_fused_fits(args) ? selective_fused_workspace(args, backward) : 0;
    const size_t steps = selective_steps_workspace(args, backward), most = relay > fused ? relay : fused;
    return most > steps ? most : steps;
}
