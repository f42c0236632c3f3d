/* pipe.cu - the launchers: what is compiled, and what the default takes. */
#include <cuda_runtime.h>

#include "flat.cuh"
#include "pipe.cuh"

static const struct pipe_config flat_config = {PIPE_FLAT, 1, 4, 160, 1};

/* How many short sequences a warp of flat takes: as many as fill its row. */
static size_t seqs_per_warp(size_t seq_len)
{
    return seq_len < PIPE_FLAT_ROW ? PIPE_FLAT_ROW / seq_len : 1;
}

extern "C" size_t pipe_shared_bytes(const struct pipe_config *config)
{
    const size_t tile = (size_t)config->threads * config->rows * config->group * sizeof(float);
    if (config->movement == PIPE_STAGED)
        return tile + tile / 32; /* padded */
    if (config->movement == PIPE_ASYNC || pipe_is_bulk(config->movement))
        return 2 * tile * config->stages;
    return 0;
}

static cudaError_t device_attribute(int *value, enum cudaDeviceAttr attribute)
{
    int device;
    const cudaError_t error = cudaGetDevice(&device);
    return error != cudaSuccess ? error : cudaDeviceGetAttribute(value, attribute, device);
}

/* What a launch must know of the chip: the compute capability that chip and code have together, and the dynamic shared
   memory that a block may have if it asks: the chip's limit less the kernel's own few bytes. */
struct chip {
    int arch;
    size_t shared_limit;
};

static cudaError_t read_chip(struct chip *chip)
{
    int major = 0, minor = 0, limit = 0;
    cudaError_t error = device_attribute(&major, cudaDevAttrComputeCapabilityMajor);
    if (error == cudaSuccess)
        error = device_attribute(&minor, cudaDevAttrComputeCapabilityMinor);
    if (error == cudaSuccess)
        error = device_attribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    chip->arch = 10 * major + minor < LINREC_ARCH ? 10 * major + minor : LINREC_ARCH;
    chip->shared_limit = limit > 1024 ? (size_t)limit - 1024 : 0;
    return error;
}

/* The compiled kernel of a configuration, NULL if there is none. */
typedef void pipe_kernel(size_t, size_t, int, const float *, const float *, float *);

static pipe_kernel *find_pipe(const struct pipe_config *config)
{
#define CHOOSE(movement_, rows_, group_)                                                                               \
    if (config->movement == movement_ && config->rows == rows_ && config->group == group_)                             \
        return pipe_forward<movement_, rows_, group_>;
    PIPE_CONFIGS(CHOOSE)
#undef CHOOSE
    return NULL;
}

static cudaError_t launch(const struct chip *chip, const struct pipe_config *config, const struct linrec_args *args,
                          cudaStream_t stream)
{
    cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->reverse || args->num_seqs > 0x7FFFFFFF || config->threads < 32 || config->threads > PIPE_MAX_THREADS ||
        config->threads % 32 != 0 || config->stages < 1 || config->stages > PIPE_MAX_STAGES)
        return cudaErrorInvalidValue;
    if ((config->movement == PIPE_ASYNC && chip->arch < 80) || (pipe_is_bulk(config->movement) && chip->arch < 90))
        return cudaErrorNotSupported;

    if (config->movement == PIPE_FLAT) {
        const size_t per_warp = seqs_per_warp(args->seq_len);
        const size_t warps = (args->num_seqs - 1) / per_warp + 1, warps_per_block = config->threads / 32;
        if (args->seq_len > PIPE_FLAT_MAX_LEN || config->rows != 1 || config->group != 4)
            return cudaErrorInvalidValue;
        flat_forward<<<(unsigned)((warps - 1) / warps_per_block + 1), config->threads, 0, stream>>>(
            args->num_seqs, (unsigned)args->seq_len, (unsigned)per_warp, args->inputs, args->coeffs, args->outputs);
        return cudaGetLastError();
    }

    pipe_kernel *kernel = find_pipe(config);
    const size_t shared = pipe_shared_bytes(config);
    if (kernel == NULL)
        return cudaErrorInvalidValue;
    /* above 48 KB, the kernel's own few included, one must ask: for all that the chip gives */
    if (shared > 40 * 1024) {
        if (shared > chip->shared_limit)
            return cudaErrorNotSupported;
        error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)chip->shared_limit);
        if (error != cudaSuccess)
            return error;
    }
    kernel<<<(unsigned)args->num_seqs, config->threads, shared, stream>>>(args->num_seqs, args->seq_len, config->stages,
                                                                          args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}

extern "C" cudaError_t pipe_launch(const struct pipe_config *config, const struct linrec_args *args,
                                   cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    return error != cudaSuccess ? error : launch(&chip, config, args, stream);
}

/* Threads for `tiles` tiles of `elems` elements a thread, or more tiles if that took more than `most` threads; all
   tiles about equally full. */
static int threads_for(size_t seq_len, int elems, size_t tiles, int most)
{
    const size_t length = seq_len % 4 == 0 ? seq_len : seq_len + 3; /* it may begin up to 3 elements into a tile */
    const size_t least = (length - 1) / ((size_t)most * elems) + 1;
    const size_t per_tile = (length - 1) / (tiles > least ? tiles : least) + 1;
    return (int)((per_tile - 1) / (32 * (size_t)elems) + 1) * 32;
}

/* Measured on an H200 (README.md, "Choosing"):
   - up to 512 elements: each warp by itself, so that nobody waits;
   - up to 4095, and where rows begin at any multiple of 4 bytes: vector. Two tiles, if they are not too large: one is
     scanned while the other one is on its way;
   - the rest: the copy engine, two tiles at once, large ones for long sequences. */
extern "C" struct pipe_config pipe_default_config(size_t seq_len, int arch, size_t shared_limit)
{
    struct pipe_config config = flat_config;
    if (seq_len <= 512)
        return config;
    config.rows = 2;
    if (seq_len < 4096 || seq_len % 4 != 0 || arch < 80) {
        config.movement = PIPE_VECTOR;
        config.threads = threads_for(seq_len, 8, 2, seq_len <= 8192 ? 256 : 320);
        return config;
    }
    config.movement = arch >= 90 ? PIPE_BULK_LAST : PIPE_ASYNC;
    config.stages = 2;
    config.rows = seq_len > 32768 && arch >= 90 ? 4 : 2;
    config.threads = threads_for(seq_len, 4 * config.rows, 1, seq_len <= 8192 ? 256 : 512);
    if (pipe_shared_bytes(&config) > shared_limit) { /* some chips give a block 99 KB and no more */
        config.rows = 2;
        config.threads = threads_for(seq_len, 8, 1, 512);
    }
    return config;
}

/* The default, or one movement with a configuration that suits it. */
extern "C" cudaError_t pipe_default_forward(const struct linrec_args *args, cudaStream_t stream)
{
    struct chip chip;
    const cudaError_t error = read_chip(&chip);
    const struct pipe_config config = pipe_default_config(args->seq_len, chip.arch, chip.shared_limit);
    return error != cudaSuccess ? error : launch(&chip, &config, args, stream);
}

static cudaError_t launch_movement(enum pipe_movement movement, int rows, int group, int most_threads, int stages,
                                   const struct linrec_args *args, cudaStream_t stream)
{
    const struct pipe_config config = {movement, rows, group, threads_for(args->seq_len, rows * group, 1, most_threads),
                                       stages};
    return pipe_launch(&config, args, stream);
}

extern "C" cudaError_t pipe_blocked_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_BLOCKED, 1, 8, 64, 1, args, stream);
}

extern "C" cudaError_t pipe_staged_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_STAGED, 1, 8, 128, 1, args, stream);
}

extern "C" cudaError_t pipe_vector_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_VECTOR, 2, 4, 256, 1, args, stream);
}

extern "C" cudaError_t pipe_async_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_ASYNC, 2, 4, 256, 3, args, stream);
}

extern "C" cudaError_t pipe_bulk_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_BULK, 2, 4, 256, 3, args, stream);
}

extern "C" cudaError_t pipe_bulk_first_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_BULK_FIRST, 2, 4, 256, 3, args, stream);
}

extern "C" cudaError_t pipe_bulk_last_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_movement(PIPE_BULK_LAST, 2, 4, 256, 3, args, stream);
}

extern "C" cudaError_t pipe_flat_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return pipe_launch(&flat_config, args, stream);
}
