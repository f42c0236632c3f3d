/* SPDX-License-Identifier: MIT */
/* copy_four.cuh - four elements from global memory to a place for four floats in shared memory, for state_passing.cu,
   state_passing_states.cu and state_passing_backward.cu. fetch4 sends them off, and land4 ends it: float32 flies by
   cp.async; 16 bits must be converted, and wait in `held` for that. */
#ifndef COPY_FOUR_CUH
#define COPY_FOUR_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

/* The first `left` elements of a piece are there, the others become 0. `whole`: all are, at a multiple of their
   size. */
static __device__ __forceinline__ void fetch4(const float *from, int left, bool whole, float *to, uint2 *)
{
    if (whole) {
        __pipeline_memcpy_async(to, from, 16);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (i < left)
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = 0.0f;
}

static __device__ __forceinline__ void land4(const float *, float *, uint2)
{
}

template <typename dtype>
static __device__ __forceinline__ void fetch4(const dtype *from, int left, bool whole, float *, uint2 *held)
{
    if (whole) {
        *held = *(const uint2 *)from;
        return;
    }
    dtype four[4];
    for (int i = 0; i < 4; i++)
        four[i] = i < left ? from[i] : (dtype)0.0f;
    memcpy(held, four, sizeof four);
}

template <typename dtype>
static __device__ __forceinline__ void land4(const dtype *, float *to, uint2 held)
{
    dtype four[4];
    memcpy(four, &held, sizeof four);
    *(float4 *)to = make_float4((float)four[0], (float)four[1], (float)four[2], (float)four[3]);
}

#endif
