/* SPDX-License-Identifier: MIT */
/* 06.6: sums by channel. */
#include <stdlib.h>

#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

cudaError_t launch_by_channel(int count, const int *channels, const float *values, float *sums);

enum { NUM_CHANNELS = 64 };

/* The channel of an element: a third of them belongs to one channel. */
static int channel_of(size_t i)
{
    const unsigned drawn = (unsigned)i * 2654435761u >> 16;
    return drawn % 3 == 0 ? 42 : (int)(drawn / 3 % NUM_CHANNELS);
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    static int *on_device;
    const size_t bytes = size[0] * sizeof(int);
    int *const channels = malloc(bytes + 1);
    cudaError_t error = channels == NULL ? cudaErrorMemoryAllocation : cudaFree(on_device);
    on_device = NULL;
    for (size_t i = 0; channels != NULL && i < size[0]; i++)
        channels[i] = channel_of(i);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&on_device, bytes + (bytes == 0));
    if (error == cudaSuccess)
        error = cudaMemcpy(on_device, channels, bytes, cudaMemcpyHostToDevice);
    free(channels);
#ifdef CUSIM
    if (error == cudaSuccess && bytes > 0) { /* so messages say channels[3] */
        sim_name_array(on_device, bytes, "channels");
        sim_shape_array(on_device, sizeof(int), 1, &size[0]);
    }
#endif
    return error != cudaSuccess ? error : launch_by_channel((int)size[0], on_device, array[0], array[1]);
}

static size_t num_channels(const size_t *size)
{
    (void)size;
    return NUM_CHANNELS;
}

static void reference(const size_t *size, double *const *array)
{
    for (int c = 0; c < NUM_CHANNELS; c++)
        array[1][c] = 0.0;
    for (size_t i = 0; i < size[0]; i++)
        array[1][channel_of(i)] += array[0][i];
}

const struct judge judge = {
    .sizes = {"count"},
    .shapes = {{256}, {1}, {2}, {255}, {257}, {4095}, {4096}, {4097}, {9000}, {0}},
    .arrays = {{"values", JUDGE_VALUES, NULL}, {"sums", JUDGE_OUTPUTS, num_channels}},
    .reference = reference,
    .launch = launch,
    .counts_plain = true,
};
