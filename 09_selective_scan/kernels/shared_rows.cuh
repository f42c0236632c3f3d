/* SPDX-License-Identifier: MIT */
/* shared_rows.cuh - rows of a few steps each in shared memory, and the place of a step in a row, for all kernels of
   chapter 09 that give a channel several lanes. A warp reads 16 bytes with each lane; the order is such that the lanes
   meet no bank conflict.

       rows of  8 floats   in order, and behind each four rows there is room for four floats: rows r and r + 4 differ
       rows of 16 floats   the halves of rows 2, 3, 6, 7, ... are swapped: rows r and r + 2 lie in different banks
       rows of 32 floats   the quarters change places from row to row in the same way
       rows of 16 bits     in order, but for rows of 32: their quarters change places with each second row */
#ifndef SHARED_ROWS_CUH
#define SHARED_ROWS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ROOM(rows, steps) ((rows) * ((steps) < 16 ? (steps) + 1 : (steps))) /* floats, for a multiple of four rows */
#define IN_PIECE(dtype) (16 / (int)sizeof(dtype))                           /* elements of 16 bytes */

/* What lies `bytes` behind an address. */
template <typename type>
static __device__ __forceinline__ type *behind(type *address, int bytes)
{
    return (type *)((char *)address + bytes);
}

/* Where step t of a row lies. Four steps from a multiple of 4 on lie side by side. Rows of 16 bits lie as they are, but
   for those of 32 steps. */
template <int steps, typename element = float>
static __device__ __forceinline__ int swizzled(int row, int t)
{
    if (sizeof(element) < 4)
        return row * steps + (steps == 32 ? t ^ (row & 6) * 4 : t);
    return row * steps + (steps == 32   ? t ^ (row & 3) * 8
                          : steps == 16 ? t ^ (row & 2) * 4
                          : steps == 8  ? (row & ~3) + t
                                        : t);
}

static __device__ __forceinline__ void get4(const float *from, float to[4])
{
    const float4 four = *(const float4 *)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/* `count` elements, 1, 2 or a multiple of 4, from step t on of a row, to or from shared memory. */
template <int steps, int count>
static __device__ __forceinline__ void get(const float *rows, int row, int t, float to[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0) {
            get4(rows + swizzled<steps>(row, t + i), to + i);
        } else if (count == 2) {
            const float2 two = *(const float2 *)(rows + swizzled<steps>(row, t));
            to[0] = two.x, to[1] = two.y;
        } else {
            to[0] = rows[swizzled<steps>(row, t)];
        }
}

/* Two neighbours of 16 bits as floats; the pointer only says their type. */
static __device__ __forceinline__ float2 two_floats(unsigned bits, const __nv_bfloat16 *)
{
    __nv_bfloat162 two;
    memcpy(&two, &bits, sizeof two);
    return __bfloat1622float2(two);
}

static __device__ __forceinline__ float2 two_floats(unsigned bits, const __half *)
{
    __half2 two;
    memcpy(&two, &bits, sizeof two);
    return __half22float2(two);
}

template <int steps, int count, typename dtype>
static __device__ __forceinline__ void get(const dtype *rows, int row, int t, float to[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0) {
            const uint2 bits = *(const uint2 *)(rows + swizzled<steps, dtype>(row, t + i));
            const float2 two = two_floats(bits.x, rows), more = two_floats(bits.y, rows);
            to[i] = two.x, to[i + 1] = two.y, to[i + 2] = more.x, to[i + 3] = more.y;
        } else if (count == 2) {
            const float2 two = two_floats(*(const unsigned *)(rows + swizzled<steps, dtype>(row, t)), rows);
            to[0] = two.x, to[1] = two.y;
        } else {
            to[0] = (float)rows[swizzled<steps, dtype>(row, t)];
        }
}

template <int steps, int count>
static __device__ __forceinline__ void put(float *rows, int row, int t, const float from[count])
{
#pragma unroll
    for (int i = 0; i < count; i += 4)
        if (count % 4 == 0)
            *(float4 *)(rows + swizzled<steps>(row, t + i)) =
                make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
        else if (count == 2)
            *(float2 *)(rows + swizzled<steps>(row, t)) = make_float2(from[0], from[1]);
        else
            rows[swizzled<steps>(row, t)] = from[0];
}

#endif
