/* SPDX-License-Identifier: MIT */
/* oracle.h - the right answer in double precision, and how far from it a result may be. Each channel of each sequence
   knows nothing of the others; the same lines run on the host and, a thread for each of them, on the device.

   The bound is the linear recurrence's (common/linrec/linrec_oracle.h): u = 2^-24, D the levels at which results are
   combined, and beside the result

       m[t] = |c[t]| m[t-1] + |x[t]|              |y - y_ref| <= 2 u (a + D m) + FLT_MIN (1 + max|y|) + f
       a[t] = |c[t]| (a[t-1] + w[t] m[t-1])

   w is 1 for coefficients, whose product and sum round once each: 2 u. If they are given by their logarithms, c is
   computed as 2^(g log2(e)): both the constant and the product round, which moves c by 2 |g| u, and the power is off by
   up to 2^-22 = 4 u (common/cuda/fast_math.h). Together 2 u + 4 u + 2 |g| u = 2 u w, w = 3 + |g|. The power also is 0
   where it is less than FLT_MIN: f[t] = |c[t]| f[t-1] + FLT_MIN |y[t-1]|.

   Backward, e is followed like y: d = d_outputs + e is one more sum, and d_coeffs are products with outputs or with the
   initial state: |y| b + u |d_coeffs| + FLT_MIN where b bounds d, or of logarithms e. What is stored in 16 bits is
   rounded once more, which finding_add_stored adds. Nothing that was rounded so is read again. */
#ifndef LAYOUT_ORACLE_H
#define LAYOUT_ORACLE_H

#include <float.h>

#include "../../common/harness/finding.h"
#include "data.h"

struct oracle_sum {
    double y, m, a, f, max_y; /* see above */
};

static inline HOST_DEVICE double oracle_bound(const struct oracle_sum *sum, int levels)
{
    return 2 * 0x1p-24 * (sum->a + levels * sum->m) + (double)FLT_MIN * (1 + sum->max_y) + sum->f;
}

static inline HOST_DEVICE void oracle_begin(struct oracle_sum *sum, const float *state, size_t at)
{
    sum->y = state != NULL ? state[at] : 0.0;
    sum->m = sum->max_y = fabs(sum->y);
    sum->a = sum->f = 0.0;
}

/* y = c y, where c is given, or its logarithm. */
static inline HOST_DEVICE void oracle_multiply(struct oracle_sum *sum, double given, bool is_log)
{
    const double c = is_log ? exp(given) : given, size = fabs(c), weight = is_log ? 3.0 + fabs(given) : 1.0;
    sum->f = size * sum->f + (is_log ? (double)FLT_MIN * fabs(sum->y) : 0.0);
    sum->a = size == 0.0 ? 0.0 : size * (sum->a + weight * sum->m);
    sum->m *= size;
    sum->y *= c;
}

static inline HOST_DEVICE void oracle_add(struct oracle_sum *sum, double x)
{
    sum->y += x;
    sum->m += fabs(x);
    sum->max_y = fmax(sum->max_y, fabs(sum->y));
}

/* A channel of a sequence: its first element in the arrays, its states' element, and its length. */
struct oracle_channel {
    size_t first, length, state;
};

static inline HOST_DEVICE struct oracle_channel oracle_channel_of(const struct layout_args *args, size_t number)
{
    const size_t seq = number / args->channels, channel = number % args->channels;
    if (args->starts == NULL)
        return (struct oracle_channel){seq * args->seq_len * args->channels + channel, args->seq_len, number};
    const size_t first = (size_t)args->starts[seq];
    return (struct oracle_channel){first * args->channels + channel, (size_t)args->starts[seq + 1] - first, number};
}

/* The element of a step of the walk. */
static inline HOST_DEVICE size_t oracle_at(const struct layout_args *args, const struct oracle_channel *channel,
                                           bool backward, size_t step)
{
    const size_t in_time = args->reverse != backward ? channel->length - 1 - step : step;
    return channel->first + in_time * args->channels;
}

static inline HOST_DEVICE void oracle_check_forward(const struct layout_args *args, struct oracle_channel channel,
                                                    int levels, struct finding *finding)
{
    struct oracle_sum sum;
    oracle_begin(&sum, args->initial_state, channel.state);
    for (size_t step = 0; step < channel.length; step++) {
        const size_t at = oracle_at(args, &channel, false, step);
        if (step > 0 || args->initial_state != NULL)
            oracle_multiply(&sum, dtype_get(args->dtype, args->coeffs, at), args->log_coeffs);
        oracle_add(&sum, dtype_get(args->dtype, args->inputs, at));
        finding_add_stored(finding, L_OUTPUTS, at, args->dtype, args->outputs, sum.y, oracle_bound(&sum, levels));
    }
    if (args->final_state != NULL)
        finding_add(finding, L_FINAL_STATE, channel.state, args->final_state[channel.state], sum.y,
                    channel.length == 0 ? 0.0 : oracle_bound(&sum, levels));
}

static inline HOST_DEVICE void oracle_check_backward(const struct layout_args *args, struct oracle_channel channel,
                                                     int levels, struct finding *finding)
{
    struct oracle_sum sum;
    oracle_begin(&sum, args->d_final_state, channel.state);
    for (size_t step = 0; step < channel.length; step++) {
        const size_t at = oracle_at(args, &channel, true, step);
        const bool is_last = step + 1 == channel.length; /* the first step in time */
        oracle_add(&sum, dtype_get(args->dtype, args->d_outputs, at));
        const double d = sum.y, d_bound = oracle_bound(&sum, levels);
        finding_add_stored(finding, L_D_INPUTS, at, args->dtype, args->d_inputs, d, d_bound);
        oracle_multiply(&sum, dtype_get(args->dtype, args->coeffs, at), args->log_coeffs);
        const double factor = args->log_coeffs ? sum.y : d;
        const double factor_bound = args->log_coeffs ? oracle_bound(&sum, levels) : d_bound;
        double expected = 0.0, bound = 0.0;
        if (!is_last || args->initial_state != NULL) {
            const double y = is_last ? args->initial_state[channel.state]
                                     : dtype_get(args->dtype, args->outputs, oracle_at(args, &channel, true, step + 1));
            expected = factor * y;
            bound = fabs(y) * factor_bound + 0x1p-24 * fabs(expected) + (double)FLT_MIN;
        }
        finding_add_stored(finding, L_D_COEFFS, at, args->dtype, args->d_coeffs, expected, bound);
    }
    if (args->d_initial_state != NULL)
        finding_add(finding, L_D_INITIAL_STATE, channel.state, args->d_initial_state[channel.state], sum.y,
                    channel.length == 0 ? 0.0 : oracle_bound(&sum, levels));
}

/* Channel `number` of all sequences. */
static inline HOST_DEVICE void oracle_check(const struct layout_args *args, bool backward, int levels, size_t number,
                                            struct finding *finding)
{
    const struct oracle_channel channel = oracle_channel_of(args, number);
    if (backward)
        oracle_check_backward(args, channel, levels, finding);
    else
        oracle_check_forward(args, channel, levels, finding);
}

/* How many there are. */
static inline HOST_DEVICE size_t oracle_count(const struct layout_args *args)
{
    return (args->starts != NULL ? args->num_seqs : args->batch) * args->channels;
}

#endif
