/* backward.cu - the launchers: what is compiled, and what the default takes. */
#include <cuda_runtime.h>

#include "../05_pipe/launch.cuh"
#include "backward.cuh"
#include "backward.h"
#include "flat_backward.cuh"
#include "two_pass.cuh"

typedef void backward_kernel(size_t, int, const float *, const float *, const float *, float *, float *);
typedef void flat_backward_kernel(size_t, int, int, const float *, const float *, const float *, float *, float *);

/* The compiled kernel of a configuration, NULL if there is none. The scan runs against the pass. */
static backward_kernel *find_backward(const struct pipe_config *config, bool fused, bool reverse)
{
#define CHOOSE(movement_, rows_, max_threads_)                                                                         \
    if (config->movement == movement_ && config->rows == rows_ && config->threads <= max_threads_)                     \
        return fused     ? reverse ? pipe_backward<movement_, rows_, max_threads_, 1, 0>                               \
                                   : pipe_backward<movement_, rows_, max_threads_, 1, 1>                               \
                   : reverse ? pipe_backward<movement_, rows_, max_threads_, 0, 0>                                     \
                         : pipe_backward<movement_, rows_, max_threads_, 0, 1>;
    BACKWARD_CONFIGS(CHOOSE)
#undef CHOOSE
    return NULL;
}

static flat_backward_kernel *find_flat(bool fused, bool reverse)
{
    return fused     ? reverse ? flat_backward<1, 0> : flat_backward<1, 1>
               : reverse ? flat_backward<0, 0>
                     : flat_backward<0, 1>;
}

static cudaError_t launch(const struct chip *chip, const struct pipe_config *config, bool fused,
                          const struct linrec_args *args, cudaStream_t stream)
{
    cudaError_t error = linrec_check_args(args, true);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if ((error = check_config(chip, config, args)) != cudaSuccess)
        return error;

    if (config->movement == PIPE_FLAT) {
        flat_backward_kernel *const kernel = find_flat(fused, args->reverse);
        kernel<<<flat_blocks(config, args), config->threads, 0, stream>>>(
            args->num_seqs, (int)args->seq_len, flat_seqs_per_warp(args->seq_len), args->d_outputs, args->coeffs,
            args->outputs, args->d_inputs, args->d_coeffs);
        return cudaGetLastError();
    }

    backward_kernel *const kernel = find_backward(config, fused, args->reverse);
    const size_t shared = pipe_shared_bytes(config, fused ? 3 : 2);
    if (kernel == NULL || config->group != 4)
        return cudaErrorInvalidValue;
    if ((error = allow_shared(chip, (const void *)kernel, shared)) != cudaSuccess)
        return error;
    kernel<<<(unsigned)args->num_seqs, config->threads, shared, stream>>>(
        args->seq_len, config->stages, args->d_outputs, args->coeffs, args->outputs, args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}

extern "C" cudaError_t backward_launch(const struct pipe_config *config, const struct linrec_args *args,
                                       cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    return error != cudaSuccess ? error : launch(&chip, config, true, args, stream);
}

extern "C" struct pipe_config backward_movement_config(enum pipe_movement movement, size_t seq_len)
{
    struct pipe_config config = {movement, 2, 4, 0, 1};
    if (movement == PIPE_FLAT)
        config.rows = 1, config.threads = 128;
    if (movement == PIPE_VECTOR) /* registers for three arrays twice: large blocks would leave many of them unused */
        config.threads = pipe_threads(seq_len, 8, 1, 128);
    if (movement == PIPE_ASYNC)
        config.stages = 2, config.threads = pipe_threads(seq_len, 8, 1, 256);
    if (PIPE_IS_BULK(movement))
        config.rows = 4, config.stages = 2, config.threads = pipe_threads(seq_len, 16, 1, seq_len < 16384 ? 256 : 512);
    return config;
}

/* Measured on an H200 (README.md, "Choosing"): below 512 elements each warp by itself, from 1024 on the copy engine
   with two large tiles on their way, between them or without an engine cp.async, and vector where there is not even
   that. */
extern "C" struct pipe_config backward_default_config(size_t seq_len, int arch, size_t shared_limit)
{
    const int arrays = 3;
    BACKWARD_TUNED_LENGTHS(TAKE_TUNED)
    const enum pipe_movement movement = seq_len < 512                 ? PIPE_FLAT
                                        : arch < 80                   ? PIPE_VECTOR
                                        : seq_len < 1024 || arch < 90 ? PIPE_ASYNC
                                                                      : PIPE_BULK_LAST;
    struct pipe_config config = backward_movement_config(movement, seq_len);
    if (pipe_shared_bytes(&config, arrays) > shared_limit) /* some chips give a block 99 KB and no more */
        config.rows = 2, config.threads = pipe_threads(seq_len, 8, 1, 256);
    return config;
}

static cudaError_t launch_default(bool fused, const struct linrec_args *args, cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    const struct pipe_config config = backward_default_config(args->seq_len, chip.arch, chip.shared_limit);
    return error != cudaSuccess ? error : launch(&chip, &config, fused, args, stream);
}

extern "C" cudaError_t backward_default(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_default(true, args, stream);
}

/* The textbook's way: the scan alone, then d_coeffs from what it has written. */
extern "C" cudaError_t backward_two_pass(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = launch_default(false, args, stream);
    const size_t count = args->num_seqs * args->seq_len;
    if (error != cudaSuccess || count == 0)
        return error;
    const size_t blocks = (count - 1) / (D_COEFFS_THREADS * D_COEFFS_ELEMS) + 1;
    d_coeffs_only<<<(unsigned)blocks, D_COEFFS_THREADS, 0, stream>>>(count, args->seq_len,
                                                                     D_COEFFS_THREADS % args->seq_len, args->reverse,
                                                                     args->outputs, args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}

static cudaError_t backward_movement(enum pipe_movement movement, const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_config config = backward_movement_config(movement, args->seq_len);
    return backward_launch(&config, args, stream);
}

extern "C" cudaError_t scan_default(const struct linrec_args *args, cudaStream_t stream)
{
    return pipe_default(args, stream);
}

#define MOVEMENT(name, movement)                                                                                       \
    extern "C" cudaError_t scan_##name(const struct linrec_args *args, cudaStream_t stream)                            \
    {                                                                                                                  \
        return pipe_movement(movement, args, stream);                                                                  \
    }                                                                                                                  \
    extern "C" cudaError_t backward_##name(const struct linrec_args *args, cudaStream_t stream)                        \
    {                                                                                                                  \
        return backward_movement(movement, args, stream);                                                              \
    }
MOVEMENT(vector, PIPE_VECTOR)
MOVEMENT(async, PIPE_ASYNC)
MOVEMENT(bulk, PIPE_BULK)
MOVEMENT(bulk_last, PIPE_BULK_LAST)
MOVEMENT(flat, PIPE_FLAT)
