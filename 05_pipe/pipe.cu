/* pipe.cu - the launchers: what is compiled, and what the default takes. */
#include <cuda_runtime.h>

#include "flat.cuh"
#include "launch.cuh"
#include "pipe.cuh"
#include "warp.cuh"

extern "C" size_t pipe_shared_bytes(const struct pipe_config *config, int arrays)
{
    const size_t tile = (size_t)config->threads * config->rows * config->group * sizeof(float);
    if (config->movement == PIPE_STAGED)
        return tile + tile / 32; /* padded */
    if (config->movement == PIPE_ASYNC || PIPE_IS_BULK(config->movement))
        return arrays * tile * config->stages;
    return 0;
}

/* The compiled kernel of a configuration, NULL if there is none. */
typedef void pipe_kernel(size_t, int, const float *, const float *, float *);
typedef void flat_kernel(size_t, int, int, const float *, const float *, float *);
typedef void warp_kernel(size_t, int, const float *, const float *, float *);

static pipe_kernel *find_pipe(const struct pipe_config *config, bool reverse)
{
#define CHOOSE(movement_, rows_, group_, max_threads_)                                                                 \
    if (config->movement == movement_ && config->rows == rows_ && config->group == group_ &&                           \
        config->threads <= max_threads_)                                                                               \
        return reverse ? pipe_forward<movement_, rows_, group_, max_threads_, 1>                                       \
                       : pipe_forward<movement_, rows_, group_, max_threads_, 0>;
    PIPE_CONFIGS(CHOOSE)
#undef CHOOSE
    return NULL;
}

static warp_kernel *find_warp(int rows, bool reverse)
{
    return rows == 2   ? reverse ? warp_forward<2, 1> : warp_forward<2, 0>
             : rows == 4 ? reverse ? warp_forward<4, 1> : warp_forward<4, 0>
                         : NULL;
}

static cudaError_t launch(const struct chip *chip, const struct pipe_config *config, const struct linrec_args *args,
                          cudaStream_t stream)
{
    cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if ((error = check_config(chip, config, args)) != cudaSuccess)
        return error;

    if (config->movement == PIPE_FLAT) {
        flat_kernel *const kernel = args->reverse ? flat_forward<1> : flat_forward<0>;
        kernel<<<flat_blocks(config, args), config->threads, 0, stream>>>(args->num_seqs, (int)args->seq_len,
                                                                          flat_seqs_per_warp(args->seq_len),
                                                                          args->inputs, args->coeffs, args->outputs);
        return cudaGetLastError();
    }

    if (config->movement == PIPE_WARP) {
        warp_kernel *const kernel = find_warp(config->rows, args->reverse);
        const size_t warps = config->threads / 32;
        if (kernel == NULL)
            return cudaErrorInvalidValue;
        kernel<<<(unsigned)((args->num_seqs - 1) / warps + 1), config->threads, 0, stream>>>(
            args->num_seqs, (int)args->seq_len, args->inputs, args->coeffs, args->outputs);
        return cudaGetLastError();
    }

    pipe_kernel *const kernel = find_pipe(config, args->reverse);
    const size_t shared = pipe_shared_bytes(config, 2);
    if (kernel == NULL)
        return cudaErrorInvalidValue;
    if ((error = allow_shared(chip, (const void *)kernel, shared)) != cudaSuccess)
        return error;
    kernel<<<(unsigned)args->num_seqs, config->threads, shared, stream>>>(args->seq_len, config->stages, args->inputs,
                                                                          args->coeffs, args->outputs);
    return cudaGetLastError();
}

extern "C" cudaError_t pipe_launch(const struct pipe_config *config, const struct linrec_args *args,
                                   cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    return error != cudaSuccess ? error : launch(&chip, config, args, stream);
}

extern "C" int pipe_threads(size_t seq_len, int elems, size_t tiles, int most)
{
    const size_t length = seq_len % 4 == 0 ? seq_len : seq_len + 3; /* it may begin up to 3 elements into a tile */
    const size_t least = (length - 1) / ((size_t)most * elems) + 1;
    const size_t per_tile = (length - 1) / (tiles > least ? tiles : least) + 1;
    return (int)((per_tile - 1) / (32 * (size_t)elems) + 1) * 32;
}

extern "C" struct pipe_config pipe_movement_config(enum pipe_movement movement, size_t seq_len)
{
    struct pipe_config config = {movement, 2, 4, 0, 1};
    switch (movement) {
    case PIPE_BLOCKED:
        config.rows = 1, config.group = 8, config.threads = pipe_threads(seq_len, 8, 1, 64);
        break;
    case PIPE_STAGED:
        config.rows = 1, config.group = 8, config.threads = pipe_threads(seq_len, 8, 1, 128);
        break;
    case PIPE_VECTOR:
        config.threads = pipe_threads(seq_len, 8, 1, 256);
        break;
    case PIPE_ASYNC:
    case PIPE_BULK:
    case PIPE_BULK_FIRST:
    case PIPE_BULK_LAST:
        config.stages = 3, config.threads = pipe_threads(seq_len, 8, 1, 256);
        break;
    case PIPE_FLAT:
        config.rows = 1, config.threads = 160;
        break;
    case PIPE_WARP:
        config.rows = pipe_warp_holds(2, seq_len) ? 2 : 4, config.threads = 128;
        if (!pipe_warp_holds(4, seq_len)) /* 510 and 511 elements may touch 129 float4 */
            return pipe_movement_config(PIPE_FLAT, seq_len);
        break;
    }
    return config;
}

/* Measured on an H200 (README.md, "Choosing"):
   - up to 512 elements: each warp by itself, so that nobody waits; from 129 on the whole sequence at once;
   - up to 4095, and where rows begin at any multiple of 4 bytes: vector. Below 1024 in one tile; else in two, if they
   are not too large: one is scanned while the other one is on its way;
   - the rest: the copy engine, two tiles at once, large ones for long sequences. */
extern "C" struct pipe_config pipe_default_config(size_t seq_len, int arch, size_t shared_limit)
{
    const int arrays = 2;
    PIPE_TUNED_LENGTHS(TAKE_TUNED)
    if (seq_len <= PIPE_WARP_MAX_LEN)
        return pipe_movement_config(seq_len <= PIPE_FLAT_ROW ? PIPE_FLAT : PIPE_WARP, seq_len);
    struct pipe_config config = {PIPE_VECTOR, 2, 4, 0, 1};
    if (seq_len < 4096 || seq_len % 4 != 0 || arch < 80) {
        config.threads = pipe_threads(seq_len, 8, seq_len < 1024 ? 1 : 2, seq_len <= 8192 ? 256 : 320);
        return config;
    }
    config.movement = arch >= 90 ? PIPE_BULK_LAST : PIPE_ASYNC;
    config.stages = 2;
    config.rows = seq_len > 32768 && arch >= 90 ? 4 : 2;
    config.threads = pipe_threads(seq_len, 4 * config.rows, 1, seq_len <= 8192 ? 256 : 512);
    if (pipe_shared_bytes(&config, arrays) > shared_limit) { /* some chips give a block 99 KB and no more */
        config.rows = 2;
        config.threads = pipe_threads(seq_len, 8, 1, 512);
    }
    return config;
}

extern "C" cudaError_t pipe_default(const struct linrec_args *args, cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    const struct pipe_config config = pipe_default_config(args->seq_len, chip.arch, chip.shared_limit);
    return error != cudaSuccess ? error : launch(&chip, &config, args, stream);
}

extern "C" cudaError_t pipe_movement(enum pipe_movement movement, const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_config config = pipe_movement_config(movement, args->seq_len);
    return pipe_launch(&config, args, stream);
}

/* The table's launchers. This chapter runs forward only. */
#define FORWARD(name, call)                                                                                            \
    extern "C" cudaError_t name(const struct linrec_args *args, cudaStream_t stream)                                   \
    {                                                                                                                  \
        return args->reverse ? cudaErrorInvalidValue : call;                                                           \
    }
FORWARD(pipe_blocked_forward, pipe_movement(PIPE_BLOCKED, args, stream))
FORWARD(pipe_staged_forward, pipe_movement(PIPE_STAGED, args, stream))
FORWARD(pipe_vector_forward, pipe_movement(PIPE_VECTOR, args, stream))
FORWARD(pipe_async_forward, pipe_movement(PIPE_ASYNC, args, stream))
FORWARD(pipe_bulk_forward, pipe_movement(PIPE_BULK, args, stream))
FORWARD(pipe_bulk_first_forward, pipe_movement(PIPE_BULK_FIRST, args, stream))
FORWARD(pipe_bulk_last_forward, pipe_movement(PIPE_BULK_LAST, args, stream))
FORWARD(pipe_flat_forward, pipe_movement(PIPE_FLAT, args, stream))
FORWARD(pipe_warp_forward,
        args->seq_len > PIPE_WARP_MAX_LEN ? cudaErrorInvalidValue : pipe_movement(PIPE_WARP, args, stream))
FORWARD(pipe_default_forward, pipe_default(args, stream))
