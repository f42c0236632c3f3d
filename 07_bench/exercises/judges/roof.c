/* SPDX-License-Identifier: MIT */
/* 07.3: launches the baseline of the gradients, and counts. */
#include "../../../common/harness/baselines.h"
#include "judge.h"

static cudaError_t launch(const size_t *size, float *const *array)
{
    return device_add5(FLOAT32, size[0], array[0], array[1], array[2], array[3], array[4], NULL);
}

const struct judge judge = {
    .sizes = {"n"},
    .arrays = {{"a", JUDGE_VALUES, NULL},
               {"b", JUDGE_VALUES, NULL},
               {"c", JUDGE_VALUES, NULL},
               {"ab", JUDGE_OUTPUTS, NULL},
               {"bc", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
};
