/* SPDX-License-Identifier: MIT */
/* step_data.h - the test data of the step, and what is right, on host and device. */
#ifndef LAYOUT_STEP_DATA_H
#define LAYOUT_STEP_DATA_H

#include "oracle.h"
#include "step_arguments.h"

/* The operation's sizes and arrays, as they are numbered (step_operation.c). */
enum { S_LAYERS, S_BATCH, S_CHANNELS, S_NUM_SLOTS };
enum step_array { S_INPUTS, S_COEFFS, S_OUTPUTS, S_STATES, S_NEW_STATES, S_SLOTS, NUM_STEP_ARRAYS };

/* What the coefficients look like. */
enum step_kind {
    STEP_UNIFORM,   /* c in [0, 1) (g in (-2, 0]); every row has a slot */
    STEP_SIGNED,    /* in [-1, 1) (g in (-40, 0]); one row in four is empty */
    STEP_NONFINITE, /* as signed, and one number in five is a NaN or an infinity */
    STEP_NUM_KINDS
};

struct step_spec {
    uint64_t seed;
    int kind;
    bool log_coeffs;
    size_t num_slots;
};

/* The slot of a row; the last slots come first, so that no row has its own number by chance but one. */
static inline HOST_DEVICE int step_slot(const struct step_spec *spec, size_t row)
{
    if (spec->kind != STEP_UNIFORM && row % 4 == 2)
        return -1;
    return (int)(spec->num_slots - 1 - row);
}

/* Element i of an array that is read. */
static inline HOST_DEVICE float step_value(const struct step_spec *spec, int array, size_t i)
{
    const uint64_t seed = spec->seed + 100 * (uint64_t)array;
    const uint64_t special = data_hash(seed, DATA_SPECIAL, i);
    if (array == S_SLOTS)
        return (float)step_slot(spec, i);
    if (spec->kind == STEP_NONFINITE && special % 5 == 0)
        return (special >> 8) % 2 == 0 ? (float)NAN : (float)INFINITY;
    if (array != S_COEFFS)
        return data_normal(seed, DATA_INPUTS, i);
    const float uniform = data_uniform(seed, DATA_COEFFS, i);
    if (spec->log_coeffs)
        return uniform * (spec->kind == STEP_UNIFORM ? -2.0f : -40.0f);
    return spec->kind == STEP_UNIFORM ? uniform : 2.0f * uniform - 1.0f;
}

/* What must not be touched is still the poison that the harness has written there before the launch. */
static inline HOST_DEVICE void step_check_untouched(int array, size_t index, float got, struct finding *finding)
{
    if (!is_poison(got))
        finding_add(finding, array, index, got, (double)NAN, 0.0);
}

/* Compares one channel of a row of a layer. A row that is empty leaves its outputs as they were. */
static inline HOST_DEVICE void step_check_row(const struct step_args *args, size_t layer, size_t row, size_t channel,
                                              struct finding *finding)
{
    const long long slot = args->slots != NULL ? args->slots[row] : (long long)row;
    const size_t at = (layer * args->batch + row) * args->channels + channel;
    struct oracle_sum sum;
    if (slot < 0 || slot >= (long long)args->num_slots) {
        step_check_untouched(S_OUTPUTS, at, dtype_get(args->dtype, args->outputs, at), finding);
        return;
    }
    const size_t state = (layer * args->num_slots + (size_t)slot) * args->channels + channel;
    oracle_begin(&sum, args->states, state);
    oracle_multiply(&sum, dtype_get(args->dtype, args->coeffs, at), args->log_coeffs);
    oracle_add(&sum, dtype_get(args->dtype, args->inputs, at));
    finding_add_stored(finding, S_OUTPUTS, at, args->dtype, args->outputs, sum.y, oracle_bound(&sum, 1));
    finding_add(finding, S_NEW_STATES, state, args->new_states[state], sum.y, oracle_bound(&sum, 1));
}

/* And one channel of a slot of a layer, which is as it was if no row has it. */
static inline HOST_DEVICE void step_check_slot(const struct step_args *args, size_t layer, size_t slot, size_t channel,
                                               struct finding *finding)
{
    const size_t state = (layer * args->num_slots + slot) * args->channels + channel;
    for (size_t row = 0; row < args->batch; row++)
        if ((args->slots != NULL ? args->slots[row] : (long long)row) == (long long)slot)
            return;
    step_check_untouched(S_NEW_STATES, state, args->new_states[state], finding);
}

/* All of a layer's channel, and how many of these there are. */
static inline HOST_DEVICE void step_check(const struct step_args *args, size_t number, struct finding *finding)
{
    const size_t layer = number / args->channels, channel = number % args->channels;
    for (size_t row = 0; row < args->batch; row++)
        step_check_row(args, layer, row, channel, finding);
    for (size_t slot = 0; slot < args->num_slots; slot++)
        step_check_slot(args, layer, slot, channel, finding);
}

/* ---- the same on the device (data.cu) ---- */

#ifdef __cplusplus
extern "C" {
#endif

/* Fills an array of `count` elements. Does not wait. */
cudaError_t step_fill_array(const struct step_spec *spec, int array, enum dtype dtype, void *values, size_t count);

/* Compares with what is right, and adds to *finding, which is on the device. Does not wait. */
cudaError_t step_device_check(const struct step_args *args, size_t num_layers, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
