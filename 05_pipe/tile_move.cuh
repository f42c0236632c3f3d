/* tile_move.cuh - where the tiles of a stream lie, and how they move.

   A *stream* is what one block, or one warp, works on: one sequence, or several neighbouring ones, which lie one behind
   the other in memory. It is cut into tiles. Rows are packed, so a stream may begin at any multiple of 4 bytes; tiles
   begin at multiples of 16, so that four elements can move at once. Up to 3 elements before the stream, and up to 3
   behind it, share its first and last float4. They are never touched: what is not whole moves element by element.

                      begin                                               end
       elements   . . |0 1 2 3 4 5 6 7 8 9 ...                         L-1| . .
       tiles     |------- tile 0 -------|------- tile 1 -------|------- tile 2 -------|
                 ^ origin

   `reverse`: the same picture with memory running from right to left. The stream's first element is then its last one
   in memory, `origin` lies above all others, and the elements of a float4 come in the other order. Nothing but this
   file knows the direction. (This chapter has reverse = 0 throughout; chapter 06 has both.)

   `group`: so many consecutive elements, from index `at` of a tile on, belong to one thread. */
#ifndef TILE_MOVE_CUH
#define TILE_MOVE_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuda_pipeline.h>

#include "bulk_copy.cuh"
#include "pipe.h"

struct stream {
    size_t origin;     /* where the first tile begins, counted in elements from the arrays' first */
    size_t begin, end; /* the stream's elements, counted from there; begin is 0 to 3 */
};

/* The stream of sequences [first, last). */
template <int reverse>
static __device__ __forceinline__ struct stream make_stream(size_t seq_len, size_t first, size_t last)
{
    const size_t start = first * seq_len, stop = last * seq_len;
    struct stream stream;
    stream.origin = reverse ? (stop + 3) & ~(size_t)3 : start & ~(size_t)3;
    stream.begin = reverse ? stream.origin - stop : start - stream.origin;
    stream.end = stream.begin + (stop - start);
    return stream;
}

/* One tile of a stream, with indices of 32 bits from its first element on. */
struct tile {
    size_t origin;
    int begin, end; /* the stream's elements in the tile are [begin, end) */
};

/* The tile of `size` elements at `base`. Behind the stream's end it is empty. */
template <int reverse>
static __device__ __forceinline__ struct tile tile_at(const struct stream *stream, size_t base, int size)
{
    struct tile tile;
    tile.origin = reverse ? stream->origin - base : stream->origin + base;
    tile.begin = base == 0 ? (int)stream->begin : 0;
    tile.end = base + size <= stream->end ? size : base < stream->end ? (int)(stream->end - base) : 0;
    return tile;
}

/* Where `count` elements from `at` on lie in the arrays: the place of the lowest one in memory. */
template <int reverse>
static __device__ __forceinline__ size_t place(const struct tile *tile, int at, int count)
{
    return reverse ? tile->origin - at - count : tile->origin + at;
}

/* Whether all elements of the group belong to the stream: only then they move together. */
template <int group>
static __device__ __forceinline__ bool is_whole(const struct tile *tile, int at)
{
    return at >= tile->begin && at + group <= tile->end;
}

/* ---- between global memory and registers ---- */

/* A group between the order of the scan and the order of memory; the same step either way. */
template <int group, int reverse>
static __device__ __forceinline__ void reorder(const float *from, float *to)
{
#pragma unroll
    for (int i = 0; i < group; i++)
        to[i] = from[reverse ? group - 1 - i : i];
}

/* Whether the element that is number i of a group in memory belongs to the stream. */
template <int group, int reverse>
static __device__ __forceinline__ bool is_inside(const struct tile *tile, int at, int i)
{
    const int index = at + (reverse ? group - 1 - i : i);
    return index >= tile->begin && index < tile->end;
}

/* What is not part of the stream becomes `otherwise`. */
template <int group, int reverse>
static __device__ __forceinline__ void group_load(const struct tile *tile, const float *array, float otherwise, int at,
                                                  float *values)
{
    const float *from = array + place<reverse>(tile, at, group);
    float memory[group];
    if (group == 4 && is_whole<group>(tile, at)) {
        const float4 four = __ldcg((const float4 *)from);
        memory[0] = four.x, memory[1] = four.y, memory[2] = four.z, memory[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < group; i++)
            memory[i] = otherwise;
        if (at < tile->end) { /* else there is nothing to look for */
#pragma unroll
            for (int i = 0; i < group; i++)
                if (is_inside<group, reverse>(tile, at, i))
                    memory[i] = from[i];
        }
    }
    reorder<group, reverse>(memory, values);
}

template <int group, int reverse>
static __device__ __forceinline__ void group_store(const struct tile *tile, float *array, int at, const float *values)
{
    float *to = array + place<reverse>(tile, at, group);
    float memory[group];
    reorder<group, reverse>(values, memory);
    if (group == 4 && is_whole<group>(tile, at)) {
        __stcs((float4 *)to, make_float4(memory[0], memory[1], memory[2], memory[3]));
    } else {
#pragma unroll
        for (int i = 0; i < group; i++)
            if (is_inside<group, reverse>(tile, at, i))
                to[i] = memory[i];
    }
}

/* ---- through shared memory ---- */

/* staged: threads copy neighbouring elements, then take the consecutive ones that they own. One float in 32 is left
   free: groups of 8 would otherwise begin in only four of the 32 banks. */
static __device__ __forceinline__ int padded(int index)
{
    return index + index / 32;
}

template <int group, int reverse>
static __device__ __forceinline__ void group_load_staged(const struct tile *tile, const float *array, float otherwise,
                                                         int own, float *stage, float *values)
{
    __syncthreads(); /* everybody has taken what the stage held before */
#pragma unroll
    for (int i = 0; i < group; i++) {
        const int at = i * blockDim.x + threadIdx.x;
        const bool inside = at >= tile->begin && at < tile->end;
        stage[padded(at)] = inside ? array[place<reverse>(tile, at, 1)] : otherwise;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++)
        values[i] = stage[padded(own + i)];
}

template <int group, int reverse>
static __device__ __forceinline__ void group_store_staged(const struct tile *tile, float *array, int own, float *stage,
                                                          const float *values)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++)
        stage[padded(own + i)] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++) {
        const int at = i * blockDim.x + threadIdx.x;
        if (at >= tile->begin && at < tile->end)
            array[place<reverse>(tile, at, 1)] = stage[padded(at)];
    }
}

/* async, bulk: a tile of `size` elements lies in its stage as it lies in memory. Where a group is, there: */
template <int reverse>
static __device__ __forceinline__ int stage_place(int size, int at)
{
    return reverse ? size - at - 4 : at;
}

/* async: a group sets out for a stage by cp.async. */
template <int reverse>
static __device__ __forceinline__ void group_copy_async(const struct tile *tile, const float *array, int size, int at,
                                                        float *stage)
{
    if (is_whole<4>(tile, at))
        __pipeline_memcpy_async(stage + stage_place<reverse>(size, at), array + place<reverse>(tile, at, 4), 16);
}

/* bulk: the whole groups of a tile set out for a stage by the copy engine. One thread calls this, and announces the
   bytes for all arrays before. */
static __device__ __forceinline__ int whole_elements(const struct tile *tile)
{
    const int first = (tile->begin + 3) & ~3, last = tile->end & ~3;
    return last > first ? last - first : 0;
}

template <int reverse>
static __device__ __forceinline__ void tile_copy_bulk(const struct tile *tile, const float *array, int size,
                                                      float *stage, uint64_t *barrier, enum l2_policy policy)
{
    const int count = whole_elements(tile), first = (tile->begin + 3) & ~3u;
    if (count != 0)
        bulk_load_policy(stage + (reverse ? size - first - count : first), array + place<reverse>(tile, first, count),
                         count * (unsigned)sizeof(float), barrier, policy);
}

/* A group from its stage; one that is not whole was never copied, and comes from global memory. */
template <int reverse>
static __device__ __forceinline__ void group_take(const struct tile *tile, const float *array, float otherwise,
                                                  int size, int at, const float *stage, float *values)
{
    if (is_whole<4>(tile, at)) {
        const float4 four = *(const float4 *)(stage + stage_place<reverse>(size, at));
        const float memory[] = {four.x, four.y, four.z, four.w};
        reorder<4, reverse>(memory, values);
    } else {
        group_load<4, reverse>(tile, array, otherwise, at, values);
    }
}

/* ---- the tiles of a block, one after the other, of several arrays at once ---- */

/* In a tile, every warp has `rows` rows of 32 groups, a group for each lane:

       warp 0   row 0   |lane 0    |lane 1    | ... |lane 31   |
                row 1   |lane 0    |lane 1    | ... |lane 31   |      a group of 4 is a float4,
       warp 1   row 0   |lane 0    |lane 1    | ... |lane 31   |      a row 512 consecutive bytes
                ...

   Consecutive elements in a lane let it scan them alone (chapter 03). Consecutive lanes on consecutive memory is what
   the memory wants. A float4 is both. */
struct layout {
    int lane, warp, num_warps;
    int row;  /* elements of a row */
    int size; /* elements of a tile */
    int own;  /* the thread's first element */
};

template <int rows, int group>
static __device__ __forceinline__ struct layout make_layout(void)
{
    struct layout layout;
    layout.lane = threadIdx.x % 32;
    layout.warp = threadIdx.x / 32;
    layout.num_warps = blockDim.x / 32;
    layout.row = 32 * group;
    layout.size = layout.num_warps * rows * layout.row;
    layout.own = layout.warp * rows * layout.row + layout.lane * group;
    return layout;
}

/* Shared memory for tiles on their way. */
struct stages {
    float *memory;     /* stage 0: a tile of the first array, of the second, ...; stage 1: the same; ... */
    uint64_t *arrived; /* bulk: a barrier for each stage */
    int count;         /* of stages */
    int stage;         /* where this tile lies */
    int round;         /* how often all stages have been used, modulo 2 */
};

template <int movement>
static __device__ __forceinline__ enum l2_policy movement_policy(void)
{
    return movement == PIPE_BULK_FIRST ? L2_EVICT_FIRST : movement == PIPE_BULK_LAST ? L2_EVICT_LAST : L2_NORMAL;
}

/* What stands in for elements that do not exist: the pair (0, 1) changes nothing, y * 1 + 0 = y. The coefficients are
   always the second array. */
static __device__ __forceinline__ float identity(int array)
{
    return array == 1 ? 1.0f : 0.0f;
}

/* The tile at `base` sets out for stage number `stage`. async: every thread for its own groups; bulk: one thread. */
template <int movement, int arrays, int rows, int reverse>
static __device__ __forceinline__ void tile_send(const float *const *from, const struct stream *stream, size_t base,
                                                 const struct layout *layout, const struct stages *stages, int stage)
{
    const struct tile tile = tile_at<reverse>(stream, base, layout->size);
    float *memory = stages->memory + stage * arrays * layout->size;
    if (movement == PIPE_ASYNC) {
#pragma unroll
        for (int a = 0; a < arrays; a++)
#pragma unroll
            for (int r = 0; r < rows; r++)
                group_copy_async<reverse>(&tile, from[a], layout->size, layout->own + r * layout->row,
                                          memory + a * layout->size);
        __pipeline_commit();
    } else if (base < stream->end) {
        mbarrier_expect(&stages->arrived[stage], arrays * whole_elements(&tile) * (unsigned)sizeof(float));
#pragma unroll
        for (int a = 0; a < arrays; a++)
            tile_copy_bulk<reverse>(&tile, from[a], layout->size, memory + a * layout->size, &stages->arrived[stage],
                                    movement_policy<movement>());
    }
}

/* The first tiles set out. ahead: for vector, the registers of the tile that is on its way. */
template <int movement, int arrays, int rows, int group, int reverse>
static __device__ __forceinline__ void tiles_start(const float *const *from, const struct stream *stream,
                                                   const struct layout *layout, const struct stages *stages,
                                                   float ahead[][rows][group])
{
    if (movement == PIPE_VECTOR) {
        const struct tile tile = tile_at<reverse>(stream, 0, layout->size);
#pragma unroll
        for (int a = 0; a < arrays; a++)
#pragma unroll
            for (int r = 0; r < rows; r++)
                group_load<group, reverse>(&tile, from[a], identity(a), layout->own + r * layout->row, ahead[a][r]);
    }
    if (movement == PIPE_ASYNC)
        for (int s = 0; s < stages->count - 1; s++)
            tile_send<movement, arrays, rows, reverse>(from, stream, (size_t)s * layout->size, layout, stages, s);
    if (PIPE_IS_BULK(movement)) {
        if (threadIdx.x == 0) {
            for (int s = 0; s < stages->count; s++)
                mbarrier_init(&stages->arrived[s], 1);
            mbarrier_init_done();
            for (int s = 0; s < stages->count; s++)
                tile_send<movement, arrays, rows, reverse>(from, stream, (size_t)s * layout->size, layout, stages, s);
        }
        __syncthreads(); /* the barriers are there for all */
    }
}

/* The tile at `base` comes into registers: values[array][row][element]. */
template <int movement, int arrays, int rows, int group, int reverse>
static __device__ __forceinline__ void tile_arrive(const float *const *from, const struct stream *stream, size_t base,
                                                   const struct layout *layout, const struct stages *stages,
                                                   float ahead[][rows][group], float values[][rows][group])
{
    const struct tile tile = tile_at<reverse>(stream, base, layout->size);
    const int own = layout->own, row = layout->row, size = layout->size;
    const float *memory = stages->memory + stages->stage * arrays * size;

    if (movement == PIPE_ASYNC) { /* one more sets out, for the stage that was emptied last */
        const int emptied = stages->stage == 0 ? stages->count - 1 : stages->stage - 1;
        tile_send<movement, arrays, rows, reverse>(from, stream, base + (size_t)(stages->count - 1) * size, layout,
                                                   stages, emptied);
        __pipeline_wait_prior(stages->count - 1); /* for what this thread has asked for, and it takes nothing else */
    }
    if (PIPE_IS_BULK(movement))
        mbarrier_wait(&stages->arrived[stages->stage], stages->round);

    const struct tile next = tile_at<reverse>(stream, base + size, size);
#pragma unroll
    for (int a = 0; a < arrays; a++) {
        const float otherwise = identity(a);
        if (movement == PIPE_STAGED)
            group_load_staged<group, reverse>(&tile, from[a], otherwise, own, stages->memory, values[a][0]);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (movement == PIPE_BLOCKED)
                group_load<group, reverse>(&tile, from[a], otherwise, own, values[a][r]);
            if (movement == PIPE_VECTOR) { /* it is there; the next one sets out */
#pragma unroll
                for (int i = 0; i < group; i++)
                    values[a][r][i] = ahead[a][r][i];
                group_load<group, reverse>(&next, from[a], otherwise, own + r * row, ahead[a][r]);
            }
            if (movement == PIPE_ASYNC || PIPE_IS_BULK(movement))
                group_take<reverse>(&tile, from[a], otherwise, size, own + r * row, memory + a * size, values[a][r]);
        }
    }
}

/* After a __syncthreads that follows tile_arrive: nobody needs the tile's stage any more, and it is filled again. */
template <int movement, int arrays, int rows, int reverse>
static __device__ __forceinline__ void tile_refill(const float *const *from, const struct stream *stream, size_t base,
                                                   const struct layout *layout, const struct stages *stages)
{
    if (PIPE_IS_BULK(movement) && threadIdx.x == 0)
        tile_send<movement, arrays, rows, reverse>(from, stream, base + (size_t)stages->count * layout->size, layout,
                                                   stages, stages->stage);
}

/* The tile is done with: on to the next stage. */
static __device__ __forceinline__ void stages_next(struct stages *stages)
{
    if (++stages->stage == stages->count)
        stages->stage = 0, stages->round ^= 1;
}

/* What a thread has computed leaves. */
template <int movement, int rows, int group, int reverse>
static __device__ __forceinline__ void tile_store(const struct stream *stream, size_t base, float *to,
                                                  const struct layout *layout, const struct stages *stages,
                                                  float values[rows][group])
{
    const struct tile tile = tile_at<reverse>(stream, base, layout->size);
    if (movement == PIPE_STAGED)
        group_store_staged<group, reverse>(&tile, to, layout->own, stages->memory, values[0]);
    else
#pragma unroll
        for (int r = 0; r < rows; r++)
            group_store<group, reverse>(&tile, to, layout->own + r * layout->row, values[r]);
}

#endif
