/* default.c - the default of the whole course: which chapter's kernel for which sequences on which chip. Measured on an
   H200 (README.md, "Choosing"). */
#include "lookback.h"

/* Whether waves is faster than a block for each sequence, which keeps `num_seqs` multiprocessors busy. */
static bool waves_win(const struct linrec_args *args, const struct pipe_chip *chip, int multiprocessors)
{
    if (chip->arch < 90 || args->config.rows != 0)
        return false;
    return args->num_seqs < (size_t)multiprocessors / 2 && args->seq_len >= 4096;
}

static cudaError_t choose(const struct linrec_args *args, linrec_launcher *waves, linrec_launcher *others,
                          bool backward, cudaStream_t stream)
{
    const struct cut cut = lookback_least_cut(args);
    struct pipe_chip chip;
    int device, multiprocessors;
    cudaError_t error = lookback_check(args, backward, &cut);
    if (error == cudaSuccess)
        error = pipe_read_chip(&chip);
    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    return (waves_win(args, &chip, multiprocessors) ? waves : others)(args, stream);
}

cudaError_t linrec_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, lookback_waves, scan_default, false, stream);
}

cudaError_t linrec_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, lookback_waves_backward, backward_default, true, stream);
}
