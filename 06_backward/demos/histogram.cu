/* SPDX-License-Identifier: MIT */
/* histogram.cu - counts the elements of each channel (further/shared_coefficients.md)

       06_backward_histogram [FILE.csv]        even: all channels are as frequent; skewed: nine of ten elements
                                               belong to one of them

   channels[i] says to which channel element i belongs. Four ways to count them. */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

#include "../../common/linrec/demo_table.h"

#ifdef CUSIM
enum { COUNT = 1 << 17, BLOCKS = 32 };
#else /* enough to fill a GPU */
enum { COUNT = 1 << 26, BLOCKS = 1024 };
#endif
enum { NUM_CHANNELS = 64, THREADS = 256 };

/* Each element by an atomic on its channel's counter. counts are 0 before, here and below. */
static __global__ void global_only(const int *__restrict__ channels, int *counts)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[channels[i]], 1);
}

/* Lanes with the same channel find each other by a vote, and the first of them adds for all. All lanes take part in
   each turn, since COUNT is a multiple of what the grid takes. */
static __global__ void matched(const int *__restrict__ channels, int *counts)
{
    const int lane = threadIdx.x % 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x) {
        const int channel = channels[i];
        const unsigned same = __match_any_sync(0xFFFFFFFFu, channel);
        if (lane == __ffs(same) - 1)
            atomicAdd(&counts[channel], __popc(same));
    }
}

/* A block counts in a copy of its own, in shared memory, and adds the copy to the result at its end. */
static __global__ void private_copies(const int *__restrict__ channels, int *counts)
{
    __shared__ int own[NUM_CHANNELS];
    for (int c = threadIdx.x; c < NUM_CHANNELS; c += blockDim.x)
        own[c] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x)
        atomicAdd(&own[channels[i]], 1);
    __syncthreads();
    for (int c = threadIdx.x; c < NUM_CHANNELS; c += blockDim.x)
        atomicAdd(&counts[c], own[c]);
}

/* Both. */
static __global__ void private_matched(const int *__restrict__ channels, int *counts)
{
    __shared__ int own[NUM_CHANNELS];
    const int lane = threadIdx.x % 32;
    for (int c = threadIdx.x; c < NUM_CHANNELS; c += blockDim.x)
        own[c] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x) {
        const int channel = channels[i];
        const unsigned same = __match_any_sync(0xFFFFFFFFu, channel);
        if (lane == __ffs(same) - 1)
            atomicAdd(&own[channel], __popc(same));
    }
    __syncthreads();
    for (int c = threadIdx.x; c < NUM_CHANNELS; c += blockDim.x)
        atomicAdd(&counts[c], own[c]);
}

static int *d_channels, *d_counts;

#define LAUNCHER(kernel)                                                                                               \
    static cudaError_t launch_##kernel(void)                                                                           \
    {                                                                                                                  \
        const cudaError_t error = cudaMemsetAsync(d_counts, 0, NUM_CHANNELS * sizeof(int), NULL);                      \
        kernel<<<BLOCKS, THREADS>>>(d_channels, d_counts);                                                             \
        return error != cudaSuccess ? error : cudaGetLastError();                                                      \
    }
LAUNCHER(global_only)
LAUNCHER(matched)
LAUNCHER(private_copies)
LAUNCHER(private_matched)

int main(int argc, char **argv)
{
    static int channels[COUNT], counts[NUM_CHANNELS];
    const struct {
        const char *name;
        cudaError_t (*launch)(void);
    } ways[] = {{"global_only", launch_global_only},
                {"matched", launch_matched},
                {"private_copies", launch_private_copies},
                {"private_matched", launch_private_matched}};
    demo_stop_if(cudaMalloc((void **)&d_channels, sizeof channels), "histogram");
    demo_stop_if(cudaMalloc((void **)&d_counts, sizeof counts), "histogram");
    printf("%d elements in %d channels\n\n", COUNT, NUM_CHANNELS);
    demo_begin(argc, argv, "atomics contention stores shared");
    for (int skewed = 0; skewed <= 1; skewed++) {
        int right[NUM_CHANNELS] = {0};
        for (int i = 0; i < COUNT; i++) {
            channels[i] = skewed && rand() % 10 > 0 ? 7 : rand() % NUM_CHANNELS;
            right[channels[i]]++;
        }
        demo_stop_if(cudaMemcpy(d_channels, channels, sizeof channels, cudaMemcpyHostToDevice), "histogram");
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            char name[40];
            snprintf(name, sizeof name, "%s %s", skewed ? "skewed" : "even", ways[w].name);
            demo_row(name, ways[w].launch);
            demo_stop_if(cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost), ways[w].name);
            for (int c = 0; c < NUM_CHANNELS; c++)
                if (counts[c] != right[c]) {
                    fprintf(stderr, "%s: channel %d has %d elements and not %d\n", ways[w].name, c, counts[c],
                            right[c]);
                    return 1;
                }
        }
    }
    return demo_end();
}
