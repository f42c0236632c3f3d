/* SPDX-License-Identifier: MIT */
/* elsewhere.cuh - a mistake in a header, and what goes wrong when a kernel calls it wrongly. */

__device__ static void barrier_in_branches()
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}

__device__ static __forceinline__ void set(float *values, int i, float value)
{
    values[i] = value; /* SET */
}
