/* launch.c - how sequences are cut into tiles. See lookback.h. */
#include "lookback.h"

enum { LINE = 128 / sizeof(float) }; /* elements in a line of the caches */

/* A sequence whose length is no multiple of 4 may begin up to 3 elements into its first group. */
static size_t most_elems(size_t seq_len)
{
    return seq_len % 4 == 0 ? seq_len : seq_len + 3;
}

/* No tiles at all: nothing to do. More than can be numbered: num_tiles is above 2^31 - 1. */
static struct cut cut_into(const struct linrec_args *args, size_t tile_len)
{
    struct cut cut = {.seq_len = args->seq_len, .seq_tiles = 1, .tile_len = (int)tile_len};
    if (args->num_seqs == 0 || args->seq_len == 0)
        return cut;
    const size_t seq_tiles = (most_elems(args->seq_len) - 1) / tile_len + 1;
    const bool too_many = seq_tiles > 0x7FFFFFFF / args->num_seqs;
    cut.seq_tiles = too_many ? 1 : (unsigned)seq_tiles;
    cut.num_tiles = too_many ? 0x80000000u : (unsigned)(args->num_seqs * seq_tiles);
    return cut;
}

struct cut lookback_cut(const struct linrec_args *args, int rows)
{
    struct cut cut = cut_into(args, LOOKBACK_LEAST_TILE);
    if (cut.num_tiles > 0 && (rows == 1 || rows == 2 || rows == 4))
        return cut_into(args, (size_t)rows * PIPE_ROW * LOOKBACK_THREADS / 32);
    if (cut.num_tiles > 0)
        cut.num_tiles = 0x80000000u;
    return cut;
}

struct cut lookback_least_cut(const struct linrec_args *args)
{
    return cut_into(args, LOOKBACK_LEAST_TILE);
}

/* A ticket, a counter and a word for each tile. */
static size_t workspace_size(const struct cut *cut)
{
    return 8 + 8 * (size_t)cut->num_tiles;
}

size_t lookback_workspace(const struct linrec_args *args)
{
    const struct cut cut = lookback_least_cut(args);
    return workspace_size(&cut);
}

cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct cut *cut)
{
    const cudaError_t error = linrec_check_args(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return cut->num_tiles > 0x7FFFFFFF || args->workspace == NULL || args->workspace_size < workspace_size(cut)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t lookback_all_fit(const void *kernel, int threads, const struct cut *cut, bool *all_fit)
{
    struct gpu_info gpu;
    int blocks = 0; /* on a multiprocessor */
    cudaError_t error = gpu_info_read(&gpu);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    *all_fit = error == cudaSuccess && cut->num_tiles <= (unsigned)(blocks * gpu.multiprocessors);
    return error;
}

cudaError_t persistent_shape(const struct linrec_args *args, int rows, int most_threads, int num_arrays,
                             struct persistent_shape *shape)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    if (error != cudaSuccess)
        return error;
    shape->rows = args->config.rows != 0 ? args->config.rows : rows;
    shape->threads = args->config.threads != 0 ? args->config.threads : PERSISTENT_MAX_THREADS;
    shape->cut = lookback_least_cut(args);
    if (shape->cut.num_tiles == 0)
        return cudaSuccess;
    if (shape->cut.num_tiles > 0x7FFFFFFF || (shape->rows != 2 && shape->rows != 4) || shape->threads % 32 != 0 ||
        shape->threads < 32 || shape->threads > PERSISTENT_MAX_THREADS || args->config.stages < 0 ||
        args->config.stages > PERSISTENT_MAX_STAGES)
        return cudaErrorInvalidValue;
    if (shape->threads > most_threads)
        shape->threads = most_threads;

    /* As few rounds of all blocks as the largest tile allows, and then as many equal tiles as fill these rounds: of
       whole lines of memory, so that no two blocks store to one. */
    const size_t row_len = (size_t)shape->rows * PIPE_ROW, largest = shape->threads / 32 * row_len;
    const size_t blocks =
        gpu.multiprocessors < PERSISTENT_MAX_BLOCKS ? (size_t)gpu.multiprocessors : PERSISTENT_MAX_BLOCKS;
    const size_t elems = most_elems(args->seq_len), least_tiles = (elems - 1) / largest + 1;
    const size_t rounds = (args->num_seqs * least_tiles - 1) / blocks + 1;
    const size_t seq_tiles =
        rounds * blocks / args->num_seqs > least_tiles ? rounds * blocks / args->num_seqs : least_tiles;
    const size_t tile_len = ((elems - 1) / seq_tiles / LINE + 1) * LINE;
    shape->cut = cut_into(args, tile_len < LOOKBACK_LEAST_TILE ? LOOKBACK_LEAST_TILE : tile_len);
    shape->threads = (int)((shape->cut.tile_len - 1) / row_len + 1) * 32;
    shape->blocks = shape->cut.num_tiles < blocks ? shape->cut.num_tiles : (unsigned)blocks;

    /* As many stages as fit, but no more than a block takes tiles; from two tiles on, two at least. */
    const unsigned turns = (shape->cut.num_tiles - 1) / shape->blocks + 1;
    const size_t own = PERSISTENT_MAX_STAGES * 512, bytes = num_arrays * sizeof(float) * shape->cut.tile_len;
    shape->most_shared = gpu.shared_limit > own ? gpu.shared_limit - own : 0;
    const size_t fit = shape->most_shared / bytes;
    shape->stages = args->config.stages != 0      ? args->config.stages
                    : fit < PERSISTENT_MAX_STAGES ? (int)fit
                                                  : PERSISTENT_MAX_STAGES;
    if (turns < (unsigned)shape->stages)
        shape->stages = (int)turns;
    shape->shared = shape->stages * bytes;
    return gpu.arch < 90 || (size_t)shape->stages > fit || (shape->stages < 2 && turns > 1) ? cudaErrorNotSupported
                                                                                            : cudaSuccess;
}

/* Two words for each block of the ring, beside a ticket and a counter. */
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args)
{
    (void)args;
    return 8 + 16 * (size_t)PERSISTENT_CLUSTER_RING * PERSISTENT_CLUSTER_MAX_CLUSTERS;
}

size_t linrec_workspace(const struct linrec_args *args)
{
    const size_t words = lookback_workspace(args), ring = lookback_persistent_cluster_workspace(args);
    return words > ring ? words : ring;
}

cudaError_t persistent_cluster_shape(const struct linrec_args *args, bool backward,
                                     struct persistent_cluster_shape *shape)
{
    struct gpu_info gpu;
    cudaError_t error = linrec_check_args(args, backward);
    shape->cut = lookback_least_cut(args);
    if (error != cudaSuccess || shape->cut.num_tiles == 0)
        return error;
    if ((error = gpu_info_read(&gpu)) != cudaSuccess)
        return error;
    shape->threads = args->config.threads != 0 ? args->config.threads : PERSISTENT_CLUSTER_MAX_THREADS;
    if (args->workspace == NULL || args->workspace_size < lookback_persistent_cluster_workspace(args) ||
        shape->threads % 32 != 0 || shape->threads < 32 || shape->threads > PERSISTENT_CLUSTER_MAX_THREADS)
        return cudaErrorInvalidValue;
    /* Of the gradients' three arrays one has stages for the tiles in registers, too. */
    shape->num_tiles =
        backward ? 3 * PERSISTENT_CLUSTER_STAGES + PERSISTENT_CLUSTER_TILES : 2 * PERSISTENT_CLUSTER_STAGES;
    shape->shared = shape->num_tiles * sizeof(float) * PERSISTENT_CLUSTER_ROWS * 4 * shape->threads;
    shape->most_shared =
        gpu.shared_limit > PERSISTENT_CLUSTER_OWN_SHARED ? gpu.shared_limit - PERSISTENT_CLUSTER_OWN_SHARED : 0;
    return gpu.arch < 90 || shape->shared > shape->most_shared ? cudaErrorNotSupported : cudaSuccess;
}

cudaError_t persistent_cluster_fit(const struct linrec_args *args, int clusters, struct persistent_cluster_shape *shape)
{
    if (clusters < 1)
        return cudaErrorNotSupported;
    const size_t row_len = PERSISTENT_CLUSTER_ROWS * PIPE_ROW,
                 largest = PERSISTENT_CLUSTER_BLOCKS * shape->threads / 32 * row_len; /* of a unit */
    const size_t all = clusters < PERSISTENT_CLUSTER_MAX_CLUSTERS ? (size_t)clusters : PERSISTENT_CLUSTER_MAX_CLUSTERS;
    const size_t elems = most_elems(args->seq_len), least_units = (elems - 1) / largest + 1;
    const size_t rounds = (args->num_seqs * least_units - 1) / all + 1;
    const size_t full = rounds * all / args->num_seqs, units = full > least_units ? full : least_units;
    const size_t tile_len = ((elems - 1) / (units * PERSISTENT_CLUSTER_BLOCKS) / LINE + 1) * LINE;
    const size_t seq_units = (elems - 1) / (tile_len * PERSISTENT_CLUSTER_BLOCKS) + 1;
    if (seq_units > 0x7FFFFFFF / PERSISTENT_CLUSTER_BLOCKS / args->num_seqs)
        return cudaErrorInvalidValue;
    const size_t num_units = seq_units * args->num_seqs;
    shape->cut = (struct cut){args->seq_len, (unsigned)(seq_units * PERSISTENT_CLUSTER_BLOCKS),
                              (unsigned)(num_units * PERSISTENT_CLUSTER_BLOCKS), (int)tile_len};
    shape->threads = (int)((tile_len - 1) / row_len + 1) * 32;
    shape->blocks = (unsigned)(num_units < all ? num_units : all) * PERSISTENT_CLUSTER_BLOCKS;
    shape->shared = shape->num_tiles * sizeof(float) * tile_len;
    return cudaSuccess;
}

cudaError_t cluster_shape(const struct linrec_args *args, unsigned most_blocks, struct cluster_shape *shape)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    if (error != cudaSuccess)
        return error;
    shape->cut = lookback_least_cut(args);
    if (shape->cut.num_tiles == 0)
        return cudaSuccess;

    /* The shapes with which a prototype was fastest on an H200: more blocks cost less than tiles twice as long, except
       for the gradients of long sequences. A few sequences have 16 blocks each, as long as all of them have room. */
    const bool is_few = args->num_seqs <= CLUSTER_FEW;
    const size_t elems = most_elems(args->seq_len), two_rows = 2 * PIPE_ROW * 256 / 32;
    const size_t blocks_of_two = is_few ? CLUSTER_MAX_BLOCKS : CLUSTER_MAX_BLOCKS / 2;
    const size_t blocks_of_four = is_few ? CLUSTER_MAX_BLOCKS : most_blocks;
    const int threads = args->config.threads, rows = args->config.rows;
    shape->rows = rows != 0 ? rows : elems <= blocks_of_two * two_rows ? 2 : 4;
    shape->threads = threads != 0 ? threads : elems <= blocks_of_four * two_rows * shape->rows / 2 ? 256 : 512;
    if ((shape->rows != 2 && shape->rows != 4) || shape->threads % 32 != 0 || shape->threads < 32 ||
        shape->threads > CLUSTER_MAX_THREADS || args->seq_len > CLUSTER_MAX_LEN)
        return cudaErrorInvalidValue;
    shape->cut = cut_into(args, (size_t)shape->rows * PIPE_ROW * shape->threads / 32);
    if (shape->cut.num_tiles > 0x7FFFFFFF || shape->cut.seq_tiles > CLUSTER_MAX_BLOCKS)
        return cudaErrorInvalidValue;
    return gpu.arch < 90 ? cudaErrorNotSupported : cudaSuccess;
}
