/* launch.cuh - what the launchers of this chapter and of chapter 06 do alike. */
#ifndef LAUNCH_CUH
#define LAUNCH_CUH

#include "pipe.h"

/* What a launch must know of the chip: the compute capability that chip and code have together, and the dynamic shared
   memory that a block may have if it asks: the chip's limit less the kernel's own few bytes. */
struct chip {
    int arch;
    size_t shared_limit;
};

static inline cudaError_t device_attribute(int *value, enum cudaDeviceAttr attribute)
{
    int device;
    const cudaError_t error = cudaGetDevice(&device);
    return error != cudaSuccess ? error : cudaDeviceGetAttribute(value, attribute, device);
}

static inline cudaError_t read_chip(struct chip *chip)
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

static inline bool runs_on(int arch, enum pipe_movement movement)
{
    return arch >= (PIPE_IS_BULK(movement) ? 90 : movement == PIPE_ASYNC ? 80 : 0);
}

/* What a tuned header (chapter 07) says for rows that begin at multiples of 16 bytes: in a list of them, returns the
   first that is long enough and that the chip can run. `arrays`: how many are read. */
#define TAKE_TUNED(max_seq_len, movement, rows, group, threads, stages)                                                \
    if (seq_len <= max_seq_len && seq_len % 4 == 0 && runs_on(arch, movement)) {                                       \
        const struct pipe_config tuned = {movement, rows, group, threads, stages};                                     \
        if (pipe_shared_bytes(&tuned, arrays) <= shared_limit)                                                         \
            return tuned;                                                                                              \
    }

/* Whether the configuration makes sense for these sequences, and whether the chip can run it. */
static inline cudaError_t check_config(const struct chip *chip, const struct pipe_config *config,
                                       const struct linrec_args *args)
{
    if (args->num_seqs > 0x7FFFFFFF || config->threads < 32 || config->threads % 32 != 0 || config->stages < 1 ||
        config->stages > PIPE_MAX_STAGES)
        return cudaErrorInvalidValue;
    if (config->movement == PIPE_WARP && (!pipe_warp_holds(config->rows, args->seq_len) || config->group != 4 ||
                                          config->threads > PIPE_FLAT_MAX_THREADS))
        return cudaErrorInvalidValue;
    if (config->movement == PIPE_FLAT && (args->seq_len > PIPE_FLAT_MAX_LEN || config->rows != 1 ||
                                          config->group != 4 || config->threads > PIPE_FLAT_MAX_THREADS))
        return cudaErrorInvalidValue;
    return runs_on(chip->arch, config->movement) ? cudaSuccess : cudaErrorNotSupported;
}

/* A block that wants more than 48 KB of shared memory, the kernel's own few included, must ask: for all that the chip
   gives. */
static inline cudaError_t allow_shared(const struct chip *chip, const void *kernel, size_t bytes)
{
    if (bytes <= 40 * 1024)
        return cudaSuccess;
    if (bytes > chip->shared_limit)
        return cudaErrorNotSupported;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)chip->shared_limit);
}

/* flat: a warp takes as many short sequences as fill its row, a block as many warps as it has. */
static inline int flat_seqs_per_warp(size_t seq_len)
{
    return seq_len < PIPE_FLAT_ROW ? PIPE_FLAT_ROW / (int)seq_len : 1;
}

static inline unsigned flat_blocks(const struct pipe_config *config, const struct linrec_args *args)
{
    const size_t seqs_per_block = (size_t)flat_seqs_per_warp(args->seq_len) * (config->threads / 32);
    return (unsigned)((args->num_seqs - 1) / seqs_per_block + 1);
}

#endif
