/* SPDX-License-Identifier: MIT */
/* boxes.cu - boxes of arrays of three dimensions, which the TMA loads and stores. `boxes right`: in all places, edges
   and beyond; prints what is wrong. `boxes swizzled`: the same of swizzled ones. `boxes counts`: what one load and one
   store count. `boxes refused`: what no map is made of. `boxes NAME`: the kernel with mistake NAME, of which boxes.t
   knows what must be said. */
#include <cuda.h>
#include <sim_tma.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counts.h"

/* An array of 3 planes of 5 rows of 21 elements, rows 24 elements apart, planes 6 rows. */
enum { SIZE_X = 21, SIZE_Y = 5, SIZE_Z = 3, ROW = 24, PLANE = 6 * ROW, ALL = SIZE_Z * PLANE };
/* And boxes of it. */
enum { BOX_X = 16, BOX_Y = 3, BOX_Z = 2, BOX = BOX_X * BOX_Y * BOX_Z };
enum { THREADS = 32 };

#define MAP const __grid_constant__ CUtensorMap

static __device__ void prepare(uint64_t *barrier)
{
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarrier_init_done();
    }
    __syncthreads();
}

/* ---- right ---- */

/* Copies a box to `loaded`, adds 1 to it, and stores it into another array, if no coordinate is negative. */
template <class T>
__global__ void one_box(T *loaded, MAP from, MAP to, int x, int y, int z)
{
    __shared__ __align__(128) T tile[BOX_Z][BOX_Y][BOX_X];
    __shared__ uint64_t barrier;
    T *const flat = &tile[0][0][0];

    prepare(&barrier);
    for (int twice = 0; twice < 2; twice++) {
        if (threadIdx.x == 0) {
            mbarrier_expect(&barrier, sizeof(tile));
            tma_load_box(tile, &from, x, y, z, &barrier);
        }
        mbarrier_wait(&barrier, (unsigned)twice);
        for (int i = (int)threadIdx.x; i < BOX; i += THREADS) {
            loaded[i] = flat[i];
            flat[i] = (T)(flat[i] + 1);
        }
        fence_proxy_async();
        __syncthreads();
        if (threadIdx.x == 0 && x >= 0 && y >= 0 && z >= 0) {
            tma_store_box(&to, x, y, z, tile);
            tma_store_commit();
            tma_store_wait_read();
        }
        __syncthreads(); /* the tile is written again */
    }
}

static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, size_t element, void *base)
{
    const cuuint64_t sizes[] = {SIZE_X, SIZE_Y, SIZE_Z}, strides[] = {ROW * element, PLANE * element};
    const cuuint32_t box[] = {BOX_X, BOX_Y, BOX_Z}, steps[] = {1, 1, 1};

    return cuTensorMapEncodeTiled(map, type, 3, base, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* Whether the box there was loaded and stored as it should be, at all its places. */
template <class T>
static int try_box(CUtensorMapDataType type, int x, int y, int z)
{
    static T in[ALL], out[ALL], loaded[BOX];
    T *d_in, *d_out, *d_loaded;
    CUtensorMap from, to;
    int wrong = 0;

    for (int i = 0; i < ALL; i++)
        in[i] = (T)(i + 7);
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&d_out, sizeof(out));
    cudaMalloc(&d_loaded, sizeof(loaded));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, sizeof(out));
    if (encode(&from, type, sizeof(T), d_in) != CUDA_SUCCESS || encode(&to, type, sizeof(T), d_out) != CUDA_SUCCESS)
        return 1;
    one_box<T><<<1, THREADS>>>(d_loaded, from, to, x, y, z);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaMemcpy(loaded, d_loaded, sizeof(loaded), cudaMemcpyDeviceToHost);
    for (int k = 0; k < BOX_Z; k++)
        for (int j = 0; j < BOX_Y; j++)
            for (int i = 0; i < BOX_X; i++) {
                const int at_x = x + i, at_y = y + j, at_z = z + k, at = at_z * PLANE + at_y * ROW + at_x;
                const bool inside =
                    at_x >= 0 && at_x < SIZE_X && at_y >= 0 && at_y < SIZE_Y && at_z >= 0 && at_z < SIZE_Z;

                wrong += loaded[(k * BOX_Y + j) * BOX_X + i] != (inside ? in[at] : (T)0);
                /* a row of 84 or 42 bytes is stored up to 96 or 48: whole pieces of 16 bytes, or none */
                const bool stored = x >= 0 && y >= 0 && z >= 0 && at_x < ROW && at_y < SIZE_Y && at_z < SIZE_Z;
                if (stored) {
                    wrong += out[at] != (T)((inside ? in[at] : (T)0) + 1);
                    out[at] = 0;
                }
            }
    for (int i = 0; i < ALL; i++)
        wrong += out[i] != 0; /* nothing else was stored */
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_loaded);
    return wrong;
}

static int right(void)
{
    static const int corners[][3] = {{0, 0, 0},  {8, 2, 1},  {16, 1, 0},   {-8, 0, 0},   {0, -2, 0},
                                     {0, 0, -1}, {-8, 4, 2}, {16, -1, -1}, {-16, 0, 0},  {24, 0, 0},
                                     {0, 5, 0},  {0, 0, 3},  {8, 0, 0},    {-8, -1, -1}, {1000000000, 0, -1000000000}};

    for (const auto &c : corners) {
        const int floats = try_box<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, c[0], c[1], c[2]);
        const int shorts = try_box<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, c[0], c[1], c[2]);

        if (floats + shorts != 0)
            printf("box (%d, %d, %d): %d floats and %d of 16 bits are wrong\n", c[0], c[1], c[2], floats, shorts);
    }
    return 0;
}

/* ---- swizzled: rows of 128 bytes, in which place i of row r holds the 16 bytes number i ^ r % 8 ---- */

/* In units of 4 bytes: an array of 3 planes of 12 rows of 37, rows 48 apart, and boxes of 32, 10 rows and 2 planes. */
enum { WIDE_X = 37, WIDE_Y = 12, WIDE_Z = 3, WIDE_ROW = 48, WIDE = WIDE_Z * WIDE_Y * WIDE_ROW };
enum { LINE_X = 32, LINES_Y = 10, LINES_Z = 2, LINES = LINES_Z * LINES_Y, SWIZZLED_BOX = LINES * LINE_X };

static CUresult encode_swizzled(CUtensorMap *map, CUtensorMapDataType type, size_t element, void *base)
{
    const cuuint64_t sizes[] = {WIDE_X * 4 / element, WIDE_Y, WIDE_Z},
                     strides[] = {WIDE_ROW * 4, WIDE_Y * WIDE_ROW * 4};
    const cuuint32_t box[] = {(cuuint32_t)(LINE_X * 4 / element), LINES_Y, LINES_Z}, steps[] = {1, 1, 1};

    return cuTensorMapEncodeTiled(map, type, 3, base, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* As one_box: what lies in shared memory goes to `loaded` as it lies, comes back with 1 more, and is stored. */
template <class T>
__global__ void one_swizzled_box(T *loaded, MAP from, MAP to, int x, int y, int z)
{
    __shared__ __align__(1024) T tile[SWIZZLED_BOX * 4 / sizeof(T)];
    __shared__ uint64_t barrier;

    prepare(&barrier);
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, sizeof(tile));
        tma_load_box(tile, &from, x, y, z, &barrier);
    }
    mbarrier_wait(&barrier, 0);
    for (int i = (int)threadIdx.x; i < (int)(sizeof(tile) / sizeof(T)); i += THREADS) {
        loaded[i] = tile[i];
        tile[i] = (T)(tile[i] + 1);
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0 && x >= 0 && y >= 0 && z >= 0) {
        tma_store_box(&to, x, y, z, tile);
        tma_store_commit();
        tma_store_wait_read();
    }
}

/* x in units of 4 bytes. */
template <class T>
static int try_swizzled(CUtensorMapDataType type, int x, int y, int z)
{
    enum { PER = 4 / sizeof(T), PIECE = 16 / sizeof(T) };
    static T in[WIDE * PER], out[WIDE * PER], loaded[SWIZZLED_BOX * PER];
    T *d_in, *d_out, *d_loaded;
    CUtensorMap from, to;
    int wrong = 0;

    for (int i = 0; i < WIDE * PER; i++)
        in[i] = (T)(i + 7);
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&d_out, sizeof(out));
    cudaMalloc(&d_loaded, sizeof(loaded));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, sizeof(out));
    if (encode_swizzled(&from, type, sizeof(T), d_in) != CUDA_SUCCESS ||
        encode_swizzled(&to, type, sizeof(T), d_out) != CUDA_SUCCESS)
        return 1;
    one_swizzled_box<T><<<1, THREADS>>>(d_loaded, from, to, x * PER, y, z);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaMemcpy(loaded, d_loaded, sizeof(loaded), cudaMemcpyDeviceToHost);
    for (int row = 0; row < LINES; row++)
        for (int i = 0; i < LINE_X * PER; i++) {
            const int at_x = x * PER + i, at_y = y + row % LINES_Y, at_z = z + row / LINES_Y;
            const int at = (at_z * WIDE_Y + at_y) * WIDE_ROW * PER + at_x;
            const int place = row * LINE_X * PER + (i / PIECE ^ row % 8) * PIECE + i % PIECE;
            const bool is_row = at_x >= 0 && at_y >= 0 && at_y < WIDE_Y && at_z >= 0 && at_z < WIDE_Z;
            const bool inside = is_row && at_x < WIDE_X * PER;

            wrong += loaded[place] != (inside ? in[at] : (T)0);
            /* a row of 148 bytes is stored up to 160 */
            if (x >= 0 && y >= 0 && z >= 0 && is_row && at_x < 40 * PER) {
                wrong += out[at] != (T)((inside ? in[at] : (T)0) + 1);
                out[at] = 0;
            }
        }
    for (int i = 0; i < WIDE * PER; i++)
        wrong += out[i] != 0;
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_loaded);
    return wrong;
}

static int swizzled(void)
{
    static const int corners[][3] = {{0, 0, 0},  {8, 2, 1},   {4, 7, 2},  {-8, 0, 0}, {12, -3, 0},
                                     {0, 0, -1}, {-28, 4, 2}, {36, 1, 1}, {40, 0, 0}, {0, 12, 0}};

    for (const auto &c : corners) {
        const int floats = try_swizzled<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, c[0], c[1], c[2]);
        const int shorts = try_swizzled<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, c[0], c[1], c[2]);

        if (floats + shorts != 0)
            printf("swizzled box (%d, %d, %d): %d floats and %d of 16 bits are wrong\n", c[0], c[1], c[2], floats,
                   shorts);
    }
    return 0;
}

/* ---- what is counted: a box of which 13 columns, 2 rows and 1 plane lie inside, from byte 8 * 4 of a row on; and a
   swizzled one that lies inside ---- */

static void print_counts(void)
{
    const struct sim_counts c = sim_get_counts();
    const struct sim_traffic *t[] = {&c.loads, &c.stores};

    printf("%d bulk copies", (int)c.bulk_copies);
    for (const struct sim_traffic *one : t)
        printf(", %d requests %d bytes %d sectors %d least %d lines %d once", (int)one->requests, (int)one->bytes,
               (int)one->sectors, (int)one->least, (int)one->lines, (int)one->once);
    printf("\n");
}

__global__ void load_and_store(MAP from, MAP to)
{
    __shared__ __align__(128) float tile[BOX];
    __shared__ uint64_t barrier;

    prepare(&barrier);
    mbarrier_expect(&barrier, sizeof(tile));
    tma_load_box(tile, &from, 8, 3, 2, &barrier);
    mbarrier_wait(&barrier, 0);
    tma_store_box(&to, 8, 3, 2, tile);
    tma_store_commit();
    tma_store_wait_read();
}

__global__ void load_and_store_swizzled(MAP from, MAP to)
{
    __shared__ __align__(1024) float tile[SWIZZLED_BOX];
    __shared__ uint64_t barrier;

    prepare(&barrier);
    mbarrier_expect(&barrier, sizeof(tile));
    tma_load_box(tile, &from, 0, 0, 0, &barrier);
    mbarrier_wait(&barrier, 0);
    tma_store_box(&to, 0, 0, 0, tile);
    tma_store_commit();
    tma_store_wait_read();
}

static int counts(void)
{
    CUtensorMap from, to;
    float *memory;

    cudaMalloc(&memory, 2 * WIDE * sizeof(float));
    cudaMemset(memory, 0, 2 * WIDE * sizeof(float));
    encode(&from, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory);
    encode(&to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory + ALL);
    load_and_store<<<1, 1>>>(from, to);
    cudaDeviceSynchronize();
    print_counts();
    sim_reset_counts();
    encode_swizzled(&from, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory);
    encode_swizzled(&to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory + WIDE);
    load_and_store_swizzled<<<1, 1>>>(from, to);
    cudaDeviceSynchronize();
    print_counts();
    return 0;
}

/* ---- maps that are refused ---- */

static cuuint64_t sizes[5], strides[4];
static cuuint32_t box[5], steps[5];
static CUtensorMap any;

/* Encodes a map that is right but for what has been changed since `fresh`. */
static void fresh(void)
{
    for (int i = 0; i < 5; i++) {
        sizes[i] = 32;
        box[i] = 16;
        steps[i] = 1;
    }
    for (int i = 0; i < 4; i++)
        strides[i] = (cuuint64_t)128 << 5 * i;
}

static CUresult encode_any(unsigned rank, size_t base)
{
    return cuTensorMapEncodeTiled(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, (void *)base, sizes, strides, box, steps,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

#define REFUSES(change, rank, base)                                                                                    \
    fresh();                                                                                                           \
    change;                                                                                                            \
    if (encode_any(rank, base) != CUDA_ERROR_INVALID_VALUE)                                                            \
        printf("takes %s, %s dimensions, base %s\n", #change, #rank, #base);

static int refused(void)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult result;

    for (unsigned rank = 1; rank <= 5; rank++) {
        fresh();
        if (encode_any(rank, 4096) != CUDA_SUCCESS)
            printf("refuses %u dimensions\n", rank);
    }
    REFUSES(, 0, 4096)
    REFUSES(, 6, 4096)
    REFUSES(, 3, 4104)
    REFUSES(, 3, 0)
    REFUSES(sizes[2] = 0, 3, 4096)
    REFUSES(sizes[0] = ((cuuint64_t)1 << 32) + 1, 3, 4096)
    REFUSES(strides[0] = 136, 3, 4096)
    REFUSES(strides[1] = (cuuint64_t)1 << 40, 3, 4096)
    REFUSES(box[1] = 257, 3, 4096)
    REFUSES(box[2] = 0, 3, 4096)
    REFUSES(box[0] = 3, 3, 4096)
    REFUSES(steps[1] = 9, 3, 4096)
    REFUSES(steps[0] = 0, 3, 4096)
    fresh();
    box[0] = 36; /* 144 bytes */
    if (cuTensorMapEncodeTiled(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)4096, sizes, strides, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_ERROR_INVALID_VALUE)
        printf("takes swizzled rows of more than 128 bytes\n");
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result) !=
            cudaSuccess ||
        result != cudaDriverEntryPointSuccess || function != (void *)cuTensorMapEncodeTiled)
        printf("the function has no entry point\n");
    if (cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSymbolNotFound || function != NULL)
        printf("another name has an entry point\n");
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080, cudaEnableDefault, &result) !=
            cudaSuccess ||
        result != cudaDriverEntryPointVersionNotSufficent)
        printf("a version before the function has it\n");
    return 0;
}

/* ---- mistakes: each kernel has one ---- */

#define KERNEL(name) __global__ void name(float *x, MAP map, MAP other)

/* What all have in common: a tile, which is the whole box, loaded. */
#define TILE                                                                                                           \
    __shared__ __align__(128) float tile[BOX];                                                                         \
    __shared__ uint64_t barrier;                                                                                       \
    prepare(&barrier);                                                                                                 \
    (void)map, (void)other, (void)x, (void)tile

static __device__ void load(float *tile, const CUtensorMap *map, uint64_t *barrier)
{
    if (threadIdx.x == 0) {
        mbarrier_expect(barrier, BOX * sizeof(float));
        tma_load_box(tile, map, 0, 0, 0, barrier); /* THE LOAD */
    }
}

static __device__ void store(const float *tile, const CUtensorMap *map)
{
    tma_store_box(map, 0, 0, 0, tile); /* THE STORE */
    tma_store_commit();
    tma_store_wait_read();
}

KERNEL(no_wait)
{
    TILE;
    load(tile, &map, &barrier);
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x]; /* HERE no_wait */
    mbarrier_wait(&barrier, 0);
}

KERNEL(unwaited)
{
    TILE;
    load(tile, &map, &barrier); /* at THE LOAD */
}

KERNEL(few_bytes)
{
    TILE;
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, BOX * sizeof(float) - 16);
        tma_load_box(tile, &map, 16, 0, 0, &barrier); /* THERE few_bytes */
    }
    mbarrier_wait(&barrier, 0); /* HERE few_bytes */
}

KERNEL(unaligned)
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile + 4, &map, 0, 0, 0, &barrier); /* HERE unaligned */
}

KERNEL(odd_column)
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile, &map, -7, 0, 0, &barrier); /* HERE odd_column */
}

KERNEL(store_negative)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0)
        tma_store_box(&map, 0, -1, 0, tile); /* HERE store_negative */
}

KERNEL(small_tile)
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile + 64, &map, 0, 0, 0, &barrier); /* HERE small_tile */
}

KERNEL(unmade)
{
    TILE;
    CUtensorMap none = {};
    if (threadIdx.x == 0)
        tma_load_box(tile, &none, 0, 0, 0, &barrier); /* HERE unmade */
}

KERNEL(two_dimensions) /* `other` has them */
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile, &other, 0, 0, 0, &barrier); /* HERE two_dimensions */
}

KERNEL(past_end) /* `other` is too large for its memory */
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile, &other, 0, 0, 2, &barrier); /* HERE past_end */
}

KERNEL(freed) /* `other` was freed */
{
    TILE;
    if (threadIdx.x == 0)
        tma_load_box(tile, &other, 0, 0, 0, &barrier); /* HERE freed */
}

KERNEL(store_past_end)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0)
        tma_store_box(&other, 0, 0, 2, tile); /* HERE store_past_end */
}

KERNEL(store_unwaited)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0) {
        tma_store_box(&map, 0, 0, 0, tile); /* HERE store_unwaited */
        tma_store_commit();
    }
}

KERNEL(uncommitted)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0) {
        tma_store_box(&map, 0, 0, 0, tile); /* THERE uncommitted */
        tma_store_wait_read();              /* HERE uncommitted */
    }
}

KERNEL(unfenced)
{
    TILE;
    for (int i = (int)threadIdx.x; i < BOX; i += THREADS) {
        fence_proxy_async();
        tile[i] = 1; /* THERE unfenced */
    }
    __syncthreads();
    if (threadIdx.x == 0)
        store(tile, &map); /* at THE STORE */
}

KERNEL(unordered)
{
    TILE;
    for (int i = (int)threadIdx.x; i < BOX; i += THREADS)
        tile[i] = 1; /* THERE unordered */
    fence_proxy_async();
    if (threadIdx.x == THREADS - 1)
        store(tile, &map); /* at THE STORE */
    __syncthreads();
}

KERNEL(written_too_soon)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0) {
        tma_store_box(&map, 0, 0, 0, tile); /* THERE written_too_soon */
        tma_store_commit();
    }
    __syncthreads(); /* which waits for no store */
    x[threadIdx.x] = tile[threadIdx.x];
    tile[threadIdx.x] = 2; /* HERE written_too_soon */
    if (threadIdx.x == 0)
        tma_store_wait_read();
}

KERNEL(wait_unshared)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0)
        store(tile, &map);
    tile[threadIdx.x] = 2; /* HERE wait_unshared */
}

KERNEL(two_blocks)
{
    TILE;
    load(tile, &map, &barrier);
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0)
        store(tile, &other); /* at THE STORE */
}

KERNEL(swizzled_off_1024) /* `other` is swizzled */
{
    TILE;
    __shared__ __align__(1024) float rows[SWIZZLED_BOX + 32];
    if (threadIdx.x == 0)
        tma_load_box(rows + 32, &other, 0, 0, 0, &barrier); /* HERE swizzled_off_1024 */
}

KERNEL(swizzled_store_off_1024) /* as is this one */
{
    TILE;
    __shared__ __align__(1024) float rows[SWIZZLED_BOX + 32];
    if (threadIdx.x == 0)
        tma_store_box(&other, 0, 0, 0, rows + 32); /* HERE swizzled_store_off_1024 */
}

static int mistake(const char *name)
{
    CUtensorMap map, other;
    float *x, *memory, *more;

    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&memory, ALL * sizeof(float)); /* THE ALLOCATION */
    cudaMalloc(&more, ALL * sizeof(float));
    cudaMemset(memory, 0, ALL * sizeof(float));
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory);
    encode(&other, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, more);
    fresh();
    if (strcmp(name, "two_dimensions") == 0)
        encode_any(2, (size_t)memory);
    else if (strstr(name, "past_end") != NULL)
        encode(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory + PLANE);
    else
        any = other;
    if (strcmp(name, "freed") == 0)
        cudaFree(more);
    if (strcmp(name, "swizzled_64") == 0)
        cuTensorMapEncodeTiled(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, memory, sizes, strides, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, /* HERE swizzled_64 */
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (strcmp(name, "swizzled_row_of_64") == 0) /* its box has 16 floats */
        cuTensorMapEncodeTiled(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, memory, sizes, strides, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, /* HERE swizzled_row_of_64 */
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (strstr(name, "off_1024") != NULL)
        encode_swizzled(&any, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory);
#define CASE(kernel)                                                                                                   \
    if (strcmp(name, #kernel) == 0)                                                                                    \
        kernel<<<strcmp(name, "two_blocks") == 0 ? 2 : 1, THREADS>>>(x, map, any);
    CASE(no_wait)
    CASE(unwaited)
    CASE(few_bytes)
    CASE(unaligned)
    CASE(odd_column)
    CASE(store_negative)
    CASE(small_tile)
    CASE(unmade)
    CASE(two_dimensions)
    CASE(past_end)
    CASE(freed)
    CASE(store_past_end)
    CASE(store_unwaited)
    CASE(uncommitted)
    CASE(unfenced)
    CASE(unordered)
    CASE(written_too_soon)
    CASE(wait_unshared)
    CASE(two_blocks)
    CASE(swizzled_off_1024)
    CASE(swizzled_store_off_1024)
    float first = 0;
    cudaMemcpy(&first, strcmp(name, "written_too_soon") == 0 ? memory : x, sizeof(first), cudaMemcpyDeviceToHost);
    printf("%g\n", first);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "right";

    return strcmp(name, "right") == 0      ? right()
           : strcmp(name, "swizzled") == 0 ? swizzled()
           : strcmp(name, "counts") == 0   ? counts()
           : strcmp(name, "refused") == 0  ? refused()
                                           : mistake(name);
}
