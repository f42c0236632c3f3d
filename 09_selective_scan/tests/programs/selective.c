/* SPDX-License-Identifier: MIT */
/* selective.c - the check of the selective scan as it goes on a GPU, here also where the device is the simulator: of a
   large problem by samples, which the device's arrays are read for. Results are right, or wrong where a sample must
   find it. Prints TAP. */
#include <stdio.h>
#include <string.h>

#include "../../kernels/kernels.h"
#include "../../operation/data.h"
#include "../../operation/oracle.h"
#include "../../../common/harness/check.h"

static int spoilt_array; /* -1: none */
static size_t spoilt_index;

/* The right result but for one element. */
static cudaError_t spoil(const struct problem *problem, cudaError_t error)
{
    const float value = 1e6f;
    if (error == cudaSuccess && spoilt_array >= 0)
        error = cudaMemcpy((float *)problem->arrays[spoilt_array] + spoilt_index, &value, sizeof value,
                           cudaMemcpyHostToDevice);
    return error;
}

static int number;

/* Spoils an element of the result, and looks whether the check finds it. */
static void check(const char *what, struct arrays *arrays, const struct data *data, int array, size_t index, bool found)
{
    struct finding finding = FINDING_NOTHING;
    spoilt_array = array, spoilt_index = index;
    float was = 0.0f;
    const float *element = array >= 0 ? (const float *)arrays->problem.arrays[array] + index : NULL;
    cudaError_t error = cudaSuccess;
    if (element != NULL)
        error = cudaMemcpy(&was, element, sizeof was, cudaMemcpyDeviceToHost);
    error = spoil(&arrays->problem, error);
    if (error == cudaSuccess)
        error = selective_device_check(&arrays->problem, data, 16, arrays->finding);
    if (error == cudaSuccess)
        error = cudaMemcpy(&finding, arrays->finding, sizeof finding, cudaMemcpyDeviceToHost);
    const bool good = error == cudaSuccess && (finding.num_bad != 0) == found &&
                      (!found || finding.first_bad == finding_place(array, index));
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    if (!good)
        printf("# %s, %llu wrong\n", cudaGetErrorString(error), finding.num_bad);
    if (element != NULL)
        cudaMemcpy((float *)arrays->problem.arrays[array] + index, &was, sizeof was, cudaMemcpyHostToDevice);
}

int main(void)
{
    const size_t length = 16500, sizes[MAX_SIZES] = {2, 32, 1, 1, length};
    const struct data data = {1, selective_operation.hardest_kind};
    const struct selective_kernel *row = chapter09_kernels;
    struct arrays arrays;
    while (row->backward == NULL || row->forward == NULL)
        row++;
    const struct kernel kernel = {.info = &row->info};
    for (enum direction d = FORWARD; d <= BACKWARD; d += BACKWARD) {
        if (arrays_create(&arrays, &selective_operation, sizes, d, FLOAT32, ON_CUDA) != cudaSuccess)
            return 1;
        arrays_choose(&arrays, choice_all(&selective_operation, d));
        if (arrays_fill(&arrays, &data) != cudaSuccess || arrays_launch(&arrays, &kernel) != cudaSuccess)
            return 1;
        if (d == FORWARD) {
            check("a right result", &arrays, &data, -1, 0, false);
            check("the first step", &arrays, &data, S_OUT, 0, true);
            check("the last step of the last channel", &arrays, &data, S_OUT, 2 * 32 * length - 1, true);
            check("a final state", &arrays, &data, S_FINAL_STATE, 63, true);
        } else {
            check("a right result, backward", &arrays, &data, -1, 0, false);
            check("d_u of the first channel, batch 1", &arrays, &data, S_D_U, 32 * length + 8208, true);
            check("d_delta of the last channel, batch 0", &arrays, &data, S_D_DELTA, 32 * length - 1, true);
            check("d_A of the last channel", &arrays, &data, S_D_A, 31, true);
            check("d_delta_bias of the first", &arrays, &data, S_D_DELTA_BIAS, 0, true);
            check("d_B in the first window", &arrays, &data, S_D_B, 17, true);
            check("d_C in the last window", &arrays, &data, S_D_C, 2 * length - 1, true);
        }
        arrays_free(&arrays);
    }
    printf("1..%d\n", number);
    return 0;
}
