/* SPDX-License-Identifier: MIT */
/* launch.c - decisions that the launchers of this chapter and of chapter 06 share. See pipe.h. */
#include "pipe.h"

int pipe_threads(size_t seq_len, int elems, size_t tiles, int most)
{
    const size_t length = seq_len % 4 == 0 ? seq_len : seq_len + 3; /* it may begin up to 3 elements into a tile */
    const size_t least = (length - 1) / ((size_t)most * elems) + 1;
    const size_t per_tile = (length - 1) / (tiles > least ? tiles : least) + 1;
    return (int)((per_tile - 1) / (32 * (size_t)elems) + 1) * 32;
}

struct launch_config pipe_config(const struct linrec_args *args, int rows, int most_threads, int stages)
{
    struct launch_config config = args->config;
    if (config.rows == 0)
        config.rows = rows;
    if (config.threads == 0 && args->seq_len != 0)
        config.threads = pipe_threads(args->seq_len, 4 * config.rows, 1, most_threads);
    if (config.stages == 0)
        config.stages = stages;
    return config;
}

bool pipe_config_fits(const struct linrec_args *args, const struct launch_config *config)
{
    return args->num_seqs <= 0x7FFFFFFF && config->threads >= 32 && config->threads <= PIPE_MAX_THREADS &&
           config->threads % 32 == 0 && config->stages >= 1 && config->stages <= PIPE_MAX_STAGES &&
           (config->rows == 1 || config->rows == 2 || config->rows == 4);
}

cudaError_t pipe_check(const struct linrec_args *args, const struct launch_config *config)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return args->reverse || !pipe_config_fits(args, config) ? cudaErrorInvalidValue : cudaSuccess;
}
