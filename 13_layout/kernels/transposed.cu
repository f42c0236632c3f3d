/* SPDX-License-Identifier: MIT */
/* transposed.cu - what people do first: bring the arrays into the layout of the chapters before, compute there with
   chapter 08's default, and bring the result back. That is nine passes through memory instead of three: x and c are
   read and written and read again, and y is written, read and written.

       (batch, time, channels)  --transpose-->  (batch, channels, time)  --08-->  same  --transpose-->  back

   A block transposes 32 x 32 elements through shared memory, whose rows are one longer, so that its columns lie in
   different banks. */
#include <cuda_runtime.h>

#include "../../08_lookback/lookback.h"
#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "walk.h"

enum { TILE = 32, TILE_ROWS = 8 };

/* to[batch][column][row] = from[batch][row][column]; the rows of both may lie apart. */
static __global__ void __launch_bounds__(TILE *TILE_ROWS)
    transpose(const float *__restrict__ from, struct layout_strides from_by, float *__restrict__ to,
              struct layout_strides to_by, size_t rows, size_t columns, unsigned column_tiles, unsigned tiles)
{
    __shared__ float tile[TILE][TILE + 1];
    const size_t batch = blockIdx.x / tiles, number = blockIdx.x % tiles;
    const size_t row = number / column_tiles * TILE, column = number % column_tiles * TILE;
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < rows && column + threadIdx.x < columns)
            tile[i][threadIdx.x] = from[batch * from_by.batch + (row + i) * from_by.step + column + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (column + i < columns && row + threadIdx.x < rows)
            to[batch * to_by.batch + (column + i) * to_by.step + row + threadIdx.x] = tile[threadIdx.x][i];
}

static cudaError_t launch_transpose(size_t batch, size_t rows, size_t columns, const float *from,
                                    struct layout_strides from_by, float *to, struct layout_strides to_by,
                                    cudaStream_t stream)
{
    const size_t row_tiles = (rows + TILE - 1) / TILE, column_tiles = (columns + TILE - 1) / TILE;
    if (row_tiles > 0x7FFFFFFF / column_tiles / batch)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of(row_tiles * column_tiles * batch, dim3(TILE, TILE_ROWS), 0, stream);
    return cudaLaunchKernelEx(&launch, transpose, from, from_by, to, to_by, rows, columns, (unsigned)column_tiles,
                              (unsigned)(row_tiles * column_tiles));
}

/* The workspace: three arrays with time side by side, each a multiple of 16 bytes, and then chapter 08's. */
static size_t array_bytes(const struct layout_args *args)
{
    return (args->batch * args->channels * args->seq_len * sizeof(float) + 15) / 16 * 16;
}

static struct linrec_args transposed_args(const struct layout_args *args)
{
    struct linrec_args linrec = {};
    linrec.num_seqs = args->batch * args->channels;
    linrec.seq_len = args->seq_len;
    linrec.reverse = args->reverse;
    char *const space = (char *)args->workspace;
    if (space != NULL) {
        linrec.inputs = (const float *)space;
        linrec.coeffs = (const float *)(space + array_bytes(args));
        linrec.outputs = (float *)(space + 2 * array_bytes(args));
        linrec.workspace = space + 3 * array_bytes(args);
    }
    linrec.workspace_size = linrec_workspace(&linrec);
    return linrec;
}

extern "C" size_t layout_transposed_workspace(const struct layout_args *args, bool backward)
{
    struct layout_args sizes = *args;
    (void)backward;
    sizes.workspace = NULL;
    return 3 * array_bytes(args) + transposed_args(&sizes).workspace_size;
}

extern "C" cudaError_t layout_transposed(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    if (args->dtype != FLOAT32 || args->log_coeffs || args->starts != NULL || args->initial_state != NULL ||
        args->final_state != NULL || args->workspace == NULL || (size_t)args->workspace % 16 != 0 ||
        args->workspace_size < layout_transposed_workspace(args, false))
        return cudaErrorInvalidValue;
    const struct linrec_args linrec = transposed_args(args);
    const struct layout_strides wide = {args->channels * args->seq_len, args->seq_len};
    if ((error = lookback_workspace_init(linrec.workspace, linrec.workspace_size, stream)) != cudaSuccess ||
        (error = launch_transpose(args->batch, args->seq_len, args->channels, (const float *)args->inputs,
                                  strides_of(args, args->inputs_by), (float *)linrec.inputs, wide, stream)) !=
            cudaSuccess ||
        (error = launch_transpose(args->batch, args->seq_len, args->channels, (const float *)args->coeffs,
                                  strides_of(args, args->coeffs_by), (float *)linrec.coeffs, wide, stream)) !=
            cudaSuccess ||
        (error = linrec_forward(&linrec, stream)) != cudaSuccess)
        return error;
    return launch_transpose(args->batch, args->channels, args->seq_len, linrec.outputs, wide, (float *)args->outputs,
                            strides_of(args, args->outputs_by), stream);
}
