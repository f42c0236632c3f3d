/* SPDX-License-Identifier: MIT */
/* layer_data.cu - see layer_data.h */
#include <cuda_runtime.h>

#include "layer_oracle.h"

enum { FILL_THREADS = 256, LANES = 32, MOST_ROWS = 4096, MOST_NUMBERS = LAYER_MAX_DK / LANES };

/* A grid-stride loop. */
static __global__ void fill(struct layer_spec spec, int array, enum dtype dtype, void *values, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        if (array == LAYER_STARTS)
            ((int *)values)[i] = (int)layer_start(&spec, i);
        else
            dtype_set(dtype, values, i, layer_value(&spec, array, i));
}

extern "C" cudaError_t layer_fill_array(const struct layer_spec *spec, int array, enum dtype dtype, void *values,
                                        size_t count)
{
    const size_t blocks = (count + 4 * FILL_THREADS - 1) / (4 * FILL_THREADS);
    if (count == 0)
        return cudaSuccess;
    fill<<<(unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF), FILL_THREADS>>>(*spec, array, dtype, values, count);
    return cudaGetLastError();
}

/* ---- the check: a warp has a row of dv, and a lane every 32nd of its dk numbers ---- */

static __device__ struct finding found[MOST_ROWS]; /* what each warp has found */

static __device__ double sum_of_lanes(double value)
{
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xFFFFFFFF, value, distance);
    return value;
}

/* Which row sample i of `count` is: the first, the last, or one that the seed draws. */
static __device__ size_t row_of_sample(const struct layer_args *args, size_t count, uint64_t seed, size_t i)
{
    const size_t rows = layer_num_rows(args);
    if (count == rows)
        return i;
    return i == 0 ? 0 : i == 1 ? rows - 1 : (size_t)(data_hash(seed, DATA_SPECIAL, i) % rows);
}

/* layer_check_row of layer_oracle.h, by a block of one warp. */
static __global__ void check(struct layer_args args, size_t chunk, uint64_t seed)
{
    const int lane = (int)threadIdx.x, count = (int)(args.dk + LANES - 1 - lane) / LANES;
    struct layer_row row = layer_row_of(&args, chunk, row_of_sample(&args, gridDim.x, seed, blockIdx.x));
    struct layer_number numbers[MOST_NUMBERS];
    struct finding mine = FINDING_NOTHING;
#pragma unroll
    for (int i = 0; i < MOST_NUMBERS; i++)
        if (i < count)
            numbers[i] = layer_begin_number(&args, &row, lane + i * LANES);
    for (size_t t = 0; t < row.length; t++) {
        const struct layer_step step = layer_begin_step(&args, &row, t);
        const size_t B_at = layer_B_at(&args, &row, t) + lane;
        struct layer_sums sums = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
#pragma unroll
        for (int i = 0; i < MOST_NUMBERS; i++)
            if (i < count)
                layer_advance(&row, &step, dtype_get(args.dtype, args.B, B_at + i * LANES),
                              dtype_get(args.dtype, args.C, B_at + i * LANES), &numbers[i], &sums);
        sums.y = sum_of_lanes(sums.y), sums.m = sum_of_lanes(sums.m), sums.q = sum_of_lanes(sums.q);
        sums.e = sum_of_lanes(sums.e), sums.c2 = sum_of_lanes(sums.c2), sums.old = sum_of_lanes(sums.old);
        if (lane == 0)
            layer_compare(&args, &row, t, &step, &sums, &mine);
        row.most = fmax(row.most, sums.m);
    }
#pragma unroll
    for (int i = 0; i < MOST_NUMBERS; i++)
        if (i < count && args.final_state != NULL)
            layer_compare_state(&args, &row, lane + i * LANES, &numbers[i], &mine);

    const struct finding nothing = FINDING_NOTHING;
    if (lane == 0)
        found[blockIdx.x] = nothing;
    for (int i = 0; i < LANES; i++) {
        __syncwarp();
        if (lane == i)
            layer_add_finding(&mine, &found[blockIdx.x]);
    }
}

static __global__ void add_up_all(size_t count, struct finding *finding)
{
    for (size_t i = 0; i < count; i++)
        layer_add_finding(&found[i], finding);
}

extern "C" cudaError_t layer_device_check(const struct layer_args *args, size_t chunk, uint64_t seed,
                                          struct finding *finding)
{
    const size_t rows = layer_num_rows(args), most = MOST_ROWS, count = rows < most ? rows : most;
    if (count == 0)
        return cudaSuccess;
    check<<<(unsigned)count, LANES>>>(*args, chunk, seed);
    add_up_all<<<1, 1>>>(count, finding);
    return cudaGetLastError();
}
