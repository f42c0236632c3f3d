/* default.c - the default of the whole course: which chapter's kernel for which sequences on which chip. Measured on an
   H200 (README.md, "Choosing"). */
#include "lookback.h"

enum {
    SHORT = 4096,       /* sequences up to here are chapter 06's, however few they are */
    FEW_ELEMS = 1 << 21 /* up to here look-back is done before the stages of waves have filled */
};

/* Chapter 06 keeps a multiprocessor busy for each sequence: half of them is what this chapter's kernels beat. */
static cudaError_t choose(const struct linrec_args *args, linrec_launcher *few, linrec_launcher *many,
                          linrec_launcher *others, bool backward, cudaStream_t stream)
{
    const struct cut cut = lookback_least_cut(args);
    struct pipe_chip chip;
    cudaError_t error = lookback_check(args, backward, &cut);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if ((error = pipe_read_chip(&chip)) != cudaSuccess)
        return error;
    if (args->seq_len <= SHORT || args->num_seqs > (size_t)chip.multiprocessors / 2)
        return others(args, stream);
    return (chip.arch < 90 || args->num_seqs * args->seq_len <= FEW_ELEMS ? few : many)(args, stream);
}

cudaError_t linrec_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, lookback_lookback, lookback_waves, scan_default, false, stream);
}

/* The look-back of few elements is not written for the gradients; a chip without the copy engine has chapter 06. */
static cudaError_t backward_few(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = lookback_waves_backward(args, stream);
    return error == cudaErrorNotSupported ? backward_default(args, stream) : error;
}

cudaError_t linrec_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return choose(args, backward_few, lookback_waves_backward, backward_default, true, stream);
}
