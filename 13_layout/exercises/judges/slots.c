/* SPDX-License-Identifier: MIT */
/* 13.5: one step of some of the texts whose states lie in slots. */
#include <stdlib.h>

#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { SPARE = 3 }; /* slots that no row has, at least */

cudaError_t launch_slots(int rows, int channels, const int *slots, const float *x, const float *c, float *states,
                         float *y);

static size_t num_slots(const size_t *size)
{
    return size[0] + SPARE;
}

/* Every fourth row has none. The others have slots from the last one back, in no plain order. */
static int slot_of(const size_t *size, size_t row)
{
    return row % 4 == 1 ? -1 : (int)(num_slots(size) - 1 - (row ^ 2));
}

static size_t states_of(const size_t *size)
{
    return num_slots(size) * size[1];
}

/* What y holds before the launch: all its bytes are KEPT. */
enum { KEPT = 0x3F };
static const float kept = 0x1.7E7E7Ep-1f;

/* The states are what `before' says when the answer begins to change them in their place. */
static cudaError_t launch(const size_t *size, float *const *array)
{
    static int *on_device;
    const size_t rows = size[0], state_bytes = states_of(size) * sizeof(float), bytes = rows * size[1] * sizeof(float);
    int *const slots = malloc(rows * sizeof *slots + 1);
    cudaError_t error = slots == NULL ? cudaErrorMemoryAllocation : cudaFree(on_device);
    on_device = NULL;
    for (size_t row = 0; slots != NULL && row < rows; row++)
        slots[row] = slot_of(size, row);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&on_device, (rows + 1) * sizeof *slots);
    if (error == cudaSuccess)
        error = cudaMemcpy(on_device, slots, rows * sizeof *slots, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(array[3], array[2], state_bytes, cudaMemcpyDeviceToDevice);
    if (error == cudaSuccess)
        error = cudaMemset(array[4], KEPT, bytes);
    free(slots);
#ifdef CUSIM
    if (error == cudaSuccess && rows > 0) { /* so messages say slots[3] */
        sim_name_array(on_device, rows * sizeof *on_device, "slots");
        sim_shape_array(on_device, sizeof *on_device, 1, &rows);
    }
#endif
    return error != cudaSuccess
               ? error
               : launch_slots((int)rows, (int)size[1], on_device, array[0], array[1], array[3], array[4]);
}

static void reference(const size_t *size, double *const *array)
{
    const size_t channels = size[1];
    for (size_t i = 0; i < states_of(size); i++)
        array[3][i] = array[2][i];
    for (size_t i = 0; i < size[0] * channels; i++) {
        const int slot = slot_of(size, i / channels);
        if (slot < 0) {
            array[4][i] = (double)kept;
        } else {
            double *const state = &array[3][(size_t)slot * channels + i % channels];
            *state = array[1][i] * *state + array[0][i];
            array[4][i] = *state;
        }
    }
}

/* of a product and a sum */
static size_t roundings(const size_t *size)
{
    (void)size;
    return 2;
}

const struct judge judge = {
    .sizes = {"rows", "channels"},
    .shapes =
        {{4, 32}, {1, 1}, {2, 3}, {3, 5}, {8, 33}, {5, 127}, {6, 128}, {7, 129}, {30, 31}, {33, 300}, {0, 5}, {5, 0}},
    .arrays = {{"x", JUDGE_VALUES, NULL},
               {"c", JUDGE_COEFFS, NULL},
               {"before", JUDGE_VALUES, states_of},
               {"states", JUDGE_OUTPUTS, states_of},
               {"y", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
