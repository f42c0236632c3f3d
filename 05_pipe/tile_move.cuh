/* tile_move.cuh - where the tiles of a stream lie, and how they move.

   A *stream* is what one block, or one warp, works on: one sequence, or several neighbouring ones, which lie one behind
   the other in memory. It is cut into tiles. Rows are packed, so a stream may begin at any multiple of 4 bytes; tiles
   begin at multiples of 16, so that four elements can move at once. Up to 3 elements before the stream and up to 3
   behind it share its first and last float4: they are read where they lie inside the arrays, replaced by (0, 1), and
   never written.

                      begin                                               end
       elements   . . |0 1 2 3 4 5 6 7 8 9 ...                         L-1| . .
       tiles     |------- tile 0 -------|------- tile 1 -------|------- tile 2 -------|
*/
#ifndef TILE_MOVE_CUH
#define TILE_MOVE_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuda_pipeline.h>

#include "bulk_copy.cuh"

struct stream {
    const float *inputs, *coeffs; /* at the first tile: aligned to 16 bytes */
    float *outputs;
    size_t begin, end; /* the stream's elements, counted from there; begin is 0 to 3 */
    size_t readable;   /* so many elements from there on lie inside the arrays */
};

/* The stream of sequences [first, last). */
static __device__ __forceinline__ struct stream make_stream(size_t num_seqs, size_t seq_len, size_t first, size_t last,
                                                            const float *inputs, const float *coeffs, float *outputs)
{
    const size_t start = first * seq_len, origin = start & ~(size_t)3;
    struct stream stream;
    stream.inputs = inputs + origin;
    stream.coeffs = coeffs + origin;
    stream.outputs = outputs + origin;
    stream.begin = start - origin;
    stream.end = last * seq_len - origin;
    stream.readable = num_seqs * seq_len - origin;
    return stream;
}

/* One tile of a stream, with indices of 32 bits from its first element on. */
struct tile {
    const float *inputs, *coeffs;
    float *outputs;
    unsigned begin, end; /* the stream's elements in the tile are [begin, end) */
    unsigned readable;   /* elements [0, readable) lie inside the arrays */
};

static __device__ __forceinline__ unsigned at_most(size_t n, unsigned most)
{
    return n < most ? (unsigned)n : most;
}

/* The tile of `size` elements at `base`. Behind the stream's end it is empty. */
static __device__ __forceinline__ struct tile tile_at(const struct stream *stream, size_t base, unsigned size)
{
    struct tile tile;
    tile.inputs = stream->inputs + base;
    tile.coeffs = stream->coeffs + base;
    tile.outputs = stream->outputs + base;
    tile.begin = base == 0 ? (unsigned)stream->begin : 0;
    tile.end = base < stream->end ? at_most(stream->end - base, size) : 0;
    tile.readable = base < stream->readable ? at_most(stream->readable - base, size) : 0;
    return tile;
}

/* ---- a group: `group` consecutive elements that one thread holds, from index `at` of the tile on ---- */

/* From global memory into registers: a float4 where that is possible, else element by element. What lies behind the
   arrays' end is not read; what it is replaced by here means nothing (group_mask). */
template <int group>
static __device__ __forceinline__ void group_load(const struct tile *tile, unsigned at, float *x, float *c)
{
    if (at >= tile->end)
        return;
    if (group == 4 && at + 4 <= tile->readable) {
        const float4 x4 = __ldcg((const float4 *)(tile->inputs + at)), c4 = __ldcg((const float4 *)(tile->coeffs + at));
        x[0] = x4.x, x[1] = x4.y, x[2] = x4.z, x[3] = x4.w;
        c[0] = c4.x, c[1] = c4.y, c[2] = c4.z, c[3] = c4.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < group; i++) {
        const unsigned inside = at + i < tile->readable ? at + i : tile->readable - 1;
        x[i] = tile->inputs[inside];
        c[i] = tile->coeffs[inside];
    }
}

/* From registers to global memory, and nothing outside the stream. */
template <int group>
static __device__ __forceinline__ void group_store(const struct tile *tile, unsigned at, const float *y)
{
    if (group == 4 && at >= tile->begin && at + 4 <= tile->end) {
        __stcs((float4 *)(tile->outputs + at), make_float4(y[0], y[1], y[2], y[3]));
        return;
    }
#pragma unroll
    for (int i = 0; i < group; i++)
        if (at + i >= tile->begin && at + i < tile->end)
            tile->outputs[at + i] = y[i];
}

/* Replaces what is not part of the stream by (0, 1), which changes nothing: y * 1 + 0 = y. */
template <int group>
static __device__ __forceinline__ void group_mask(const struct tile *tile, unsigned at, float *x, float *c)
{
#pragma unroll
    for (int i = 0; i < group; i++) {
        const bool inside = at + i >= tile->begin && at + i < tile->end;
        x[i] = inside ? x[i] : 0.0f;
        c[i] = inside ? c[i] : 1.0f;
    }
}

/* ---- through shared memory ---- */

/* A float4 each from a stage. */
static __device__ __forceinline__ void group_take(const float *stage_x, const float *stage_c, float *x, float *c)
{
    const float4 x4 = *(const float4 *)stage_x, c4 = *(const float4 *)stage_c;
    x[0] = x4.x, x[1] = x4.y, x[2] = x4.z, x[3] = x4.w;
    c[0] = c4.x, c[1] = c4.y, c[2] = c4.z, c[3] = c4.w;
}

/* staged: threads copy neighbouring elements, then take the consecutive ones that they own. One float in 32 is left
   free: groups of 8 would otherwise begin in only four of the 32 banks. */
static __device__ __forceinline__ unsigned padded(unsigned index)
{
    return index + index / 32;
}

template <int group>
static __device__ __forceinline__ void group_load_staged(const struct tile *tile, const float *from, float otherwise,
                                                         unsigned own, float *stage, float *values)
{
    __syncthreads(); /* everybody has taken what the stage held before */
#pragma unroll
    for (int i = 0; i < group; i++) {
        const unsigned at = i * blockDim.x + threadIdx.x;
        stage[padded(at)] = at >= tile->begin && at < tile->end ? from[at] : otherwise;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++)
        values[i] = stage[padded(own + i)];
}

template <int group>
static __device__ __forceinline__ void group_store_staged(const struct tile *tile, unsigned own, float *stage,
                                                          const float *y)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++)
        stage[padded(own + i)] = y[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < group; i++) {
        const unsigned at = i * blockDim.x + threadIdx.x;
        if (at >= tile->begin && at < tile->end)
            tile->outputs[at] = stage[padded(at)];
    }
}

/* async and bulk copy 16 bytes at least. Of the last tile of the arrays up to 3 elements may be left over, which
   left_over fetches. So many elements of a tile are copied: */
static __device__ __forceinline__ unsigned copied_elements(const struct tile *tile)
{
    const unsigned wanted = (tile->end + 3) & ~3u, whole = tile->readable & ~3u;
    return wanted < whole ? wanted : whole;
}

template <int group>
static __device__ __forceinline__ void left_over(const struct tile *tile, unsigned at, float *x, float *c)
{
#pragma unroll
    for (int i = 0; i < group; i++)
        if (at + i >= copied_elements(tile) && at + i < tile->end)
            x[i] = tile->inputs[at + i], c[i] = tile->coeffs[at + i];
}

/* async: a group sets out for a stage by cp.async. */
static __device__ __forceinline__ void group_copy_async(const struct tile *tile, unsigned at, float *stage_x,
                                                        float *stage_c)
{
    if (at >= copied_elements(tile))
        return;
    __pipeline_memcpy_async(stage_x, tile->inputs + at, 16);
    __pipeline_memcpy_async(stage_c, tile->coeffs + at, 16);
}

/* bulk: a whole tile sets out for a stage by the copy engine. One thread calls this. */
static __device__ __forceinline__ void tile_copy_bulk(const struct tile *tile, unsigned size, float *stage,
                                                      uint64_t *barrier, enum l2_policy policy)
{
    const unsigned bytes = copied_elements(tile) * (unsigned)sizeof(float);
    mbarrier_expect(barrier, 2 * bytes);
    if (bytes != 0) {
        bulk_load_policy(stage, tile->inputs, bytes, barrier, policy);
        bulk_load_policy(stage + size, tile->coeffs, bytes, barrier, policy);
    }
}

#endif
