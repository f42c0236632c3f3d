/* SPDX-License-Identifier: MIT */
/* boxes.cu - tensor_map.h, and tma_load_box and tma_store_box of tma.h: boxes of an array come and go as they should,
   at edges, too, and swizzled; what is no map is refused, and no error is left behind. Prints TAP. */
#include <cuda_runtime.h>
#include "../../cuda/tensor_map.h"
#include "../../cuda/tma.h"

#include <stdio.h>

#include "../../cuda/gpu_info.h"

/* An array of SIZE elements in each dimension, whose rows and planes lie apart, and boxes of it. */
enum { SIZE_X = 21, SIZE_Y = 5, SIZE_Z = 3, ROW = 24, PLANE = 6 * ROW, ALL = SIZE_Z * PLANE };
enum { BOX_X = 16, BOX_Y = 3, BOX_Z = 2, BOX = BOX_X * BOX_Y * BOX_Z, THREADS = 32 };
enum { MEMORY = 2048 }; /* floats: two arrays and a box, of either kind */

/* Loads the box at (x, y, z) of `from`, adds 1 to it, and stores it there in `to`, if no coordinate is negative. */
static __global__ void add_one(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int x,
                               int y, int z, float *loaded)
{
    __shared__ __align__(128) float tile[BOX];
    __shared__ uint64_t arrived;
    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 1);
        mbarrier_init_done();
        mbarrier_expect(&arrived, sizeof(tile));
        tma_load_box(tile, &from, x, y, z, &arrived);
    }
    __syncthreads();
    mbarrier_wait(&arrived, 0);
    for (int i = (int)threadIdx.x; i < BOX; i += THREADS) {
        loaded[i] = tile[i];
        tile[i] += 1.0f;
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0 && x >= 0 && y >= 0 && z >= 0) {
        tma_store_box(&to, x, y, z, tile);
        tma_store_commit();
        tma_store_wait_read();
    }
}

static cudaError_t map_of(CUtensorMap *map, const float *base, size_t row)
{
    const size_t sizes[3] = {SIZE_X, SIZE_Y, SIZE_Z}, strides[2] = {row * sizeof(float), PLANE * sizeof(float)};
    const unsigned box[3] = {BOX_X, BOX_Y, BOX_Z};
    return tensor_map_of(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, base, sizes, strides, box, false);
}

/* How many elements are wrong after one box: -1 if a call failed. */
static int wrong_of(float *memory, int x, int y, int z)
{
    static float in[ALL], out[ALL], loaded[BOX];
    CUtensorMap from, to;
    int wrong = 0;
    for (int i = 0; i < ALL; i++)
        in[i] = (float)(i + 1);
    cudaMemset(memory, 0, (2 * ALL + BOX) * sizeof(float));
    cudaMemcpy(memory, in, sizeof(in), cudaMemcpyHostToDevice);
    if (map_of(&from, memory, ROW) != cudaSuccess || map_of(&to, memory + ALL, ROW) != cudaSuccess)
        return -1;
    add_one<<<1, THREADS>>>(from, to, x, y, z, memory + 2 * ALL);
    cudaMemcpy(out, memory + ALL, sizeof(out), cudaMemcpyDeviceToHost);
    cudaMemcpy(loaded, memory + 2 * ALL, sizeof(loaded), cudaMemcpyDeviceToHost);
    for (int i = 0; i < BOX; i++) {
        const int at_x = x + i % BOX_X, at_y = y + i / BOX_X % BOX_Y, at_z = z + i / BOX_X / BOX_Y;
        const bool inside = at_x >= 0 && at_x < SIZE_X && at_y >= 0 && at_y < SIZE_Y && at_z >= 0 && at_z < SIZE_Z;
        const int at = at_z * PLANE + at_y * ROW + at_x;
        wrong += loaded[i] != (inside ? in[at] : 0.0f);
        if (x >= 0 && y >= 0 && z >= 0 && at_x < ROW && at_y < SIZE_Y && at_z < SIZE_Z) { /* whole 16 bytes of a row */
            wrong += out[at] != (inside ? in[at] : 0.0f) + 1.0f;
            out[at] = 0.0f;
        }
    }
    for (int i = 0; i < ALL; i++)
        wrong += out[i] != 0.0f; /* nothing else was stored */
    return cudaGetLastError() == cudaSuccess ? wrong : -1;
}

/* Swizzled boxes have rows of 128 bytes: 32 floats, 9 rows of a plane of the array, and what is behind its columns. */
enum { LINE = 32, LINES = 9, SWIZZLED_BOX = LINE * LINES };

/* Loads the box at (x, y, 0), shows how it lies in shared memory, and stores it into another array. */
static __global__ void swizzled_box(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                    int x, int y, float *loaded)
{
    __shared__ __align__(1024) float tile[SWIZZLED_BOX];
    __shared__ uint64_t arrived;
    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 1);
        mbarrier_init_done();
        mbarrier_expect(&arrived, sizeof(tile));
        tma_load_box(tile, &from, x, y, 0, &arrived);
    }
    __syncthreads();
    mbarrier_wait(&arrived, 0);
    for (int i = (int)threadIdx.x; i < SWIZZLED_BOX; i += THREADS)
        loaded[i] = tile[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_box(&to, x, y, 0, tile);
        tma_store_commit();
        tma_store_wait_read();
    }
}

/* The same of a plane of 40 x 12 elements, in which no number comes twice. */
static int swizzled_wrong_of(float *memory, int x, int y)
{
    enum { COLUMNS = 40, ROWS = 12, COUNT = COLUMNS * ROWS };
    static float in[COUNT], out[COUNT], loaded[SWIZZLED_BOX];
    const size_t sizes[3] = {COLUMNS, ROWS, 1}, strides[2] = {COLUMNS * sizeof(float), COUNT * sizeof(float)};
    const unsigned box[3] = {LINE, LINES, 1};
    CUtensorMap from, to;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i + 1);
    cudaMemset(memory, 0, (2 * COUNT + SWIZZLED_BOX) * sizeof(float));
    cudaMemcpy(memory, in, sizeof(in), cudaMemcpyHostToDevice);
    if (tensor_map_of(&from, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, memory, sizes, strides, box, true) != cudaSuccess ||
        tensor_map_of(&to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, memory + COUNT, sizes, strides, box, true) != cudaSuccess)
        return -1;
    swizzled_box<<<1, THREADS>>>(from, to, x, y, memory + 2 * COUNT);
    cudaMemcpy(out, memory + COUNT, sizeof(out), cudaMemcpyDeviceToHost);
    cudaMemcpy(loaded, memory + 2 * COUNT, sizeof(loaded), cudaMemcpyDeviceToHost);
    for (int i = 0; i < SWIZZLED_BOX; i++) {
        const int row = i / LINE, column = i % LINE, at_x = x + column, at_y = y + row;
        const float element = at_x < COLUMNS && at_y < ROWS ? in[at_y * COLUMNS + at_x] : 0.0f;
        wrong += loaded[row * LINE + (column / 4 ^ row % 8) * 4 + column % 4] != element;
    }
    for (int i = 0; i < COUNT; i++) {
        const int at_x = i % COLUMNS - x, at_y = i / COLUMNS - y;
        const bool stored = at_x >= 0 && at_x < LINE && at_y >= 0 && at_y < LINES;
        wrong += out[i] != (stored ? in[i] : 0.0f);
    }
    return cudaGetLastError() == cudaSuccess ? wrong : -1;
}

int main(void)
{
    static const int corners[][3] = {{0, 0, 0}, {4, 2, 1}, {12, 3, 2}, {-8, -1, -1}, {-16, 0, 0}, {24, 5, 3}};
    struct gpu_info gpu;
    CUtensorMap map;
    float *memory = NULL;
    int number = 0;
    if (gpu_info_read(&gpu) != cudaSuccess || gpu.arch < 90) {
        printf("1..0 # SKIP no device of sm_90, or not compiled for it\n");
        return 0;
    }
    cudaMalloc(&memory, MEMORY * sizeof(float));
    for (const auto &c : corners) {
        const int wrong = wrong_of(memory, c[0], c[1], c[2]);
        printf("%sok %d - the box at (%d, %d, %d): %d wrong\n", wrong == 0 ? "" : "not ", ++number, c[0], c[1], c[2],
               wrong);
    }
    for (int at = 0; at <= 12; at += 12) { /* the second box hangs over */
        const int wrong = swizzled_wrong_of(memory, at, at / 4);
        printf("%sok %d - the swizzled box at (%d, %d, 0): %d wrong\n", wrong == 0 ? "" : "not ", ++number, at, at / 4,
               wrong);
    }
    const bool refused = map_of(&map, memory + 2, ROW) == cudaErrorInvalidValue &&
                         map_of(&map, memory, ROW + 1) == cudaErrorInvalidValue;
    printf("%sok %d - a base or a stride that is not aligned to 16 bytes is refused\n", refused ? "" : "not ",
           ++number);
    printf("%sok %d - and leaves no error\n", cudaGetLastError() == cudaSuccess ? "" : "not ", ++number);
    printf("1..%d\n", number);
    return cudaFree(memory) != cudaSuccess;
}
