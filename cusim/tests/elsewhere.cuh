/* SPDX-License-Identifier: MIT */
/* elsewhere.cuh - a mistake in a header. */

__device__ static void barrier_in_branches()
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}
